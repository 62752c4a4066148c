"use strict";
const token = new URLSearchParams(location.search).get("token");
history.replaceState(null, "", "/"); // neither the bar nor a bookmark holds it

async function ask(form, path, asked, place) {
  const button = form.querySelector("button"), status = form.querySelector("[role=status]"), alert = form.querySelector("[role=alert]");
  const began = Date.now(), say = () => { status.textContent = `working, ${Math.round((Date.now() - began) / 1000)} s`; };
  button.disabled = true;
  alert.textContent = "";
  say();
  const clock = setInterval(say, 1000);
  try {
    const answer = await fetch(path, { method: "POST", headers: { "X-Token": token, "Content-Type": "application/json" }, body: JSON.stringify(asked) });
    const text = await answer.text();
    if (answer.ok) { place.innerHTML = text; } else { place.textContent = ""; alert.textContent = text; }
    status.textContent = answer.ok ? `done in ${Math.round((Date.now() - began) / 1000)} s` : "";
  } catch {
    status.textContent = "";
    alert.textContent = "The server does not answer. Is favor voice page still running?";
  } finally {
    clearInterval(clock);
    button.disabled = false;
  }
}

const scoring = document.getElementById("score"), text = document.getElementById("text"), scored = document.getElementById("scored");
function mark() {
  const on = new Set([...scored.querySelectorAll("input:checked")].map(box => box.value));
  for (const each of scored.querySelectorAll("mark")) each.classList.toggle("on", each.dataset.habits.split(" ").some(habit => on.has(habit)));
}
scoring.addEventListener("submit", async event => {
  event.preventDefault();
  await ask(scoring, "/score", { text: text.value }, scored);
  mark();
});
scored.addEventListener("change", mark);
for (const kind of ["dragover", "dragleave", "drop"]) {
  text.addEventListener(kind, event => {
    event.preventDefault();
    text.classList.toggle("over", kind === "dragover");
  });
}
text.addEventListener("drop", async event => {
  const file = event.dataTransfer.files[0];
  text.value = file ? await file.text() : event.dataTransfer.getData("text");
});

const writing = document.getElementById("write"), written = document.getElementById("written");
writing?.addEventListener("submit", event => {
  event.preventDefault();
  const given = new FormData(writing);
  const asked = { prompt: given.get("prompt"), about: given.get("about"), tokens: Number(given.get("tokens")) };
  if (given.has("draw")) Object.assign(asked, { draw: true, seed: 1 + Math.floor(2000 * Math.random()) });
  ask(writing, "/write", asked, written);
});
written?.addEventListener("click", event => {
  if (!event.target.closest("[data-score]")) return;
  text.value = event.target.closest("section").querySelector("[data-text]").textContent;
  text.scrollIntoView();
  scoring.requestSubmit();
});
