(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const items = data.items;
  const total = items.length;
  const $ = (id) => document.getElementById(id);

  $("page").setAttribute("aria-busy", "true");
  $("intro").hidden = true;
  const stored = storage("2afc-" + data.page, (kept) => { $("storage").hidden = kept; });
  let before = null;
  try {
    before = await stored.read() || { place: -1, answers: {}, saved: "" };
  } catch {
    // To go on would be to write over answers that could not be read.
    $("unread").hidden = false;
    $("page").setAttribute("aria-busy", "false");
    return;
  }
  // place: -1 the instructions, 0 to total - 1 an item, total the end. saved: the answers last written to a file.
  const state = {
    place: Math.max(-1, Math.min(before.place, total)), answers: before.answers, saved: before.saved || "",
  };
  const keep = () => stored.keep(state);
  const answerOf = (place) => state.answers[items[place].item] || {};
  const isDone = (place) => Boolean(answerOf(place).choice && answerOf(place).confidence);
  const firstOpen = () => items.findIndex((item, place) => !isDone(place));
  const doneCount = () => items.filter((item, place) => isDone(place)).length;
  const responses = () => items.map((item, place) => {
    const found = answerOf(place);
    const given = { item: item.item, choice: found.choice, confidence: found.confidence, comment: found.comment || "" };
    return data.times ? { ...given, seconds: found.seconds || 0 } : given;
  });
  const radios = (name) => [...document.querySelectorAll(`input[name=${name}]`)];
  const inTask = () => state.place >= 0 && state.place < total;

  const fill = (box, texts) => box.replaceChildren(...texts.map((text) => {
    const quote = document.createElement("blockquote");
    quote.textContent = text;
    return quote;
  }));

  const progress = () => {
    const done = doneCount();
    $("bar").value = done;
    $("count").textContent = `${done} of ${total} answered`;
    [...$("map").children].forEach((entry, place) => {
      const button = entry.firstChild;
      button.classList.toggle("done", isDone(place));
      button.setAttribute("aria-label", `Item ${place + 1}, ${isDone(place) ? "answered" : "open"}`);
      if (place === state.place) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const saved = state.saved !== "" && state.saved === JSON.stringify(responses());
    $("saved").textContent = saved
      ? `Saved as ${data.annotator}.json where your browser keeps downloads. Please hand that file in.`
      : state.saved ? "You have changed answers since you saved: please save the file again." : "";
  };

  const show = (move) => {
    $("intro").hidden = state.place !== -1;
    $("again").hidden = state.place === -1;
    $("task").hidden = !inTask();
    $("end").hidden = state.place !== total;
    $("hint").textContent = "";
    $("rest").hidden = !(move && inTask() && state.place > 0 && state.place % Number($("rest").dataset.every) === 0);
    if (inTask()) {
      const item = items[state.place];
      const answer = answerOf(state.place);
      $("place").textContent = `Item ${state.place + 1} of ${total}`;
      fill($("a"), item.a);
      fill($("b"), item.b);
      fill($("candidate"), [item.candidate]);
      radios("choice").forEach((input) => { input.checked = input.value === answer.choice; });
      radios("confidence").forEach((input) => { input.checked = Number(input.value) === answer.confidence; });
      $("comment").value = answer.comment || "";
      $("more").open = Boolean(answer.comment);
      $("back").disabled = state.place === 0;
      $("next").textContent = doneCount() === total || state.place === total - 1 ? "Finish" : "Next";
    }
    progress();
    if (move) {
      window.scrollTo(0, 0);
      const heading = document.querySelector("section:not([hidden]) h2");
      if (heading) heading.focus({ preventScroll: true });
    }
  };

  // Seconds count while an item is shown in a window that is in sight; the clock itself is not kept.
  let since = null;
  const count = () => {
    if (data.times && since !== null && inTask()) {
      const code = items[state.place].item;
      const before = (state.answers[code] || {}).seconds || 0;
      const more = (performance.now() - since) / 1000;
      state.answers[code] = { ...state.answers[code], seconds: Math.round((before + more) * 10) / 10 };
      keep();
    }
    since = document.visibilityState === "visible" ? performance.now() : null;
  };
  document.addEventListener("visibilitychange", count);
  window.addEventListener("pagehide", count);

  const go = (place) => {
    count();
    state.place = place;
    keep();
    show(true);
  };
  const set = (name, value) => {
    const code = items[state.place].item;
    state.answers[code] = { ...state.answers[code], [name]: value };
    keep();
    $("hint").textContent = "";
    progress();
  };
  const pick = (name, value) => {
    radios(name).forEach((input) => { input.checked = input.value === value; });
    set(name, name === "confidence" ? Number(value) : value);
  };
  const next = () => {
    if (!isDone(state.place)) {
      const missing = answerOf(state.place).choice ? "how sure you are (1 to 5)" : "Author A or Author B";
      $("hint").textContent = `Please choose ${missing} first.`;
      return;
    }
    const open = firstOpen();
    go(open === -1 ? total : state.place + 1 < total ? state.place + 1 : open);
  };
  const back = () => { if (state.place > 0) go(state.place - 1); };
  const begin = () => go(firstOpen() === -1 ? total : firstOpen());

  const save = () => {
    const answers = responses();
    const file = { format: data.format, page: data.page, annotator: data.annotator, responses: answers };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 1) + "\n"], { type: "application/json" }));
    link.download = `${data.annotator}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    state.saved = JSON.stringify(answers);
    keep();
    progress();
  };

  $("map").replaceChildren(...items.map((item, place) => {
    const entry = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = String(place + 1);
    button.addEventListener("click", () => go(place));
    entry.append(button);
    return entry;
  }));
  document.querySelectorAll("[data-try]").forEach((button) => button.addEventListener("click", () => {
    $("feedback").textContent = $("feedback").dataset[button.dataset.try.toLowerCase()];
  }));
  $("bar").max = total;
  ["choice", "confidence"].forEach((name) => radios(name).forEach((input) =>
    input.addEventListener("change", () => pick(name, input.value))));
  $("comment").addEventListener("input", () => set("comment", $("comment").value));
  $("answer").addEventListener("submit", (event) => { event.preventDefault(); next(); });
  $("back").addEventListener("click", back);
  $("review").addEventListener("click", () => go(total - 1));
  $("start").addEventListener("click", begin);
  $("save").addEventListener("click", save);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const on = event.target.tagName;
    if (on === "TEXTAREA") {
      if (event.key === "Escape") $("place").focus();
      return;
    }
    const pressed = event.key.toLowerCase();
    const activates = pressed === "enter" && ["BUTTON", "SUMMARY", "A"].includes(on);
    if (activates) return;
    if (!inTask()) {
      if (pressed !== "enter") return;
      event.preventDefault();
      if (state.place === -1) begin(); else save();
      return;
    }
    const actions = {
      a: () => pick("choice", "A"),
      b: () => pick("choice", "B"),
      enter: next,
      n: next,
      p: back,
      c: () => { $("more").open = true; $("comment").focus(); },
    };
    const action = "12345".includes(pressed) && pressed.length === 1
      ? () => pick("confidence", pressed) : Object.hasOwn(actions, pressed) ? actions[pressed] : null;
    if (action) {
      event.preventDefault();
      action();
    }
  });

  stored.probe();
  count();
  show(false);
  $("page").setAttribute("aria-busy", "false");
})();
