// How an annotator's page keeps answers in the browser: twice, because neither place is sure for a file.
//
// Chromium gives some loads of a local file an empty ``localStorage`` that nothing of is kept (156, one reload in ten;
// it does not without its feature RenderDocument). IndexedDB holds then, but is written a moment later, which a closing
// tab may cut off. Where browsers refuse one of the two, the other does. A database that is there and does not answer may
// hold what the other lacks, so nothing may be written over it.
"use strict";
// read() gives what was kept last, or null, and rejects where that cannot be known; keep(state) and probe() call
// said(whether anything is kept) once that is known.
// oxlint-disable-next-line no-unused-vars -- page.js, which follows in the page, takes it
const storage = (key, said) => {
  let database = null;
  let last = 0;
  const answer = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const opened = async () => {
    try {
      const request = indexedDB.open("2afc", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("pages");
      return await answer(request);
    } catch {
      return null;
    }
  };
  const inDatabase = async () => {
    database = await opened();
    let request = null;
    try {
      request = database.transaction("pages").objectStore("pages").get(key);
    } catch {
      return null;
    }
    return answer(request);
  };
  const parsed = (read) => {
    try {
      const kept = JSON.parse(read());
      return kept && kept.answers && typeof kept.answers === "object" && Number.isInteger(kept.place) ? kept : null;
    } catch {
      return null;
    }
  };
  const read = async () => {
    const late = new Promise((resolve, reject) => { setTimeout(() => reject(new Error("late")), 10000); });
    const text = await Promise.race([inDatabase(), late]);
    const places = [parsed(() => localStorage.getItem(key)), parsed(() => text)].filter(Boolean);
    const newest = places.sort((one, other) => (other.at || 0) - (one.at || 0))[0] || null;
    last = newest ? newest.at || 0 : 0;
    return newest;
  };
  const put = (name, text) => {
    let local = true;
    try {
      localStorage.setItem(name, text);
    } catch {
      local = false;
    }
    try {
      const change = database.transaction("pages", "readwrite");
      change.oncomplete = () => said(true);
      change.onabort = () => said(local);
      change.objectStore("pages").put(text, name);
      change.commit(); // at once, in case the tab closes next
    } catch {
      said(local);
    }
  };
  const keep = (state) => {
    last = Math.max(Date.now(), last + 1);
    put(key, JSON.stringify({ ...state, at: last }));
  };
  return { read, keep, probe: () => put("2afc-probe", "") };
};
