"""How an annotator's page keeps answers in the browser: twice, because neither place is sure for a file.

Chromium gives some loads of a local file an empty ``localStorage`` that nothing of is kept (156, one reload in ten;
it does not without its feature RenderDocument). IndexedDB holds then, but is written a moment later, which a closing
tab may cut off. Where browsers refuse one of the two, the other does.
"""

STORAGE = r"""
"use strict";
// read() gives what was kept last, or null; keep(state) calls said(whether it is kept) once that is known.
const storage = (key, said) => {
  let database = null;
  let last = 0;
  const opened = new Promise((resolve) => {
    setTimeout(() => resolve(null), 2000);
    try {
      const request = indexedDB.open("2afc", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("pages");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch (error) {
      resolve(null);
    }
  });
  const found = () => new Promise((resolve) => {
    try {
      const request = database.transaction("pages").objectStore("pages").get(key);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch (error) {
      resolve(null);
    }
  });
  const parsed = (read) => {
    try {
      const kept = JSON.parse(read());
      return kept && kept.answers && typeof kept.answers === "object" && Number.isInteger(kept.place) ? kept : null;
    } catch (error) {
      return null;
    }
  };
  const read = async () => {
    database = await opened;
    const late = await found();
    const places = [parsed(() => localStorage.getItem(key)), parsed(() => late)].filter(Boolean);
    const newest = places.sort((one, other) => (other.at || 0) - (one.at || 0))[0] || null;
    last = newest ? newest.at || 0 : 0;
    return newest;
  };
  const keep = (state) => {
    last = Math.max(Date.now(), last + 1);
    const text = JSON.stringify({ ...state, at: last });
    let local = true;
    try {
      localStorage.setItem(key, text);
    } catch (error) {
      local = false;
    }
    try {
      const change = database.transaction("pages", "readwrite");
      change.objectStore("pages").put(text, key);
      change.oncomplete = () => said(true);
      change.onabort = () => said(local);
    } catch (error) {
      said(local);
    }
  };
  return { read, keep };
};
"""
