"use strict";
// Requests the same page every few seconds and replaces the parts that have changed. The pages also work without this script.
(() => {
  const main = document.getElementById("main");
  const live = document.getElementById("live");
  const pause = document.getElementById("pause");
  const seconds = Number(main && main.dataset.refresh);
  if (!seconds || !live || !pause) return;
  const focusable = "a[href], button, input, select, summary, [tabindex]";
  let paused = false;
  let last = new Date();

  // The page must not change while the user types or has selected text.
  const isBusy = () => {
    const active = document.activeElement;
    return paused || document.hidden || (active && active.matches("main input, main select")) || !getSelection().isCollapsed;
  };

  const replace = (before, after) => {
    for (const open of before.querySelectorAll("details")) {
      const same = open.id && after.querySelector("#" + CSS.escape(open.id));
      if (same) same.open = open.open;
    }
    if (before.isEqualNode(after)) return;
    // The focus and the scroll positions move to the elements of the new part that have the same index.
    const focused = [...before.querySelectorAll(focusable)].indexOf(document.activeElement);
    const scrolls = [...before.querySelectorAll(".scroll")].map((part) => [part.scrollLeft, part.scrollTop]);
    before.replaceWith(after);
    after.querySelectorAll(".scroll").forEach((part, index) => {
      if (scrolls[index]) [part.scrollLeft, part.scrollTop] = scrolls[index];
    });
    if (focused >= 0) {
      const next = after.querySelectorAll(focusable)[focused];
      if (next) next.focus({ preventScroll: true });
    }
  };

  const refresh = async () => {
    if (isBusy()) return;
    try {
      const response = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(10000) });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const next = page.getElementById("main");
      // A redirection leads to the sign-in page, because the session has ended.
      if (response.redirected) return location.assign(response.url);
      if (!next || !next.dataset.refresh) throw new Error("not a page");
      if (isBusy()) return;
      const content = document.getElementById("content");
      const fresh = document.importNode(page.getElementById("content"), true);
      // If both pages have the same parts, only changed parts are replaced, which keeps the focus and open tables in the others.
      const parts = (root) => [...root.querySelectorAll("[data-part]")];
      const names = (root) => parts(root).map((part) => part.dataset.part).join();
      if (names(content) === names(fresh)) {
        const after = parts(fresh);
        parts(content).forEach((part, index) => replace(part, after[index]));
      } else {
        replace(content, fresh);
      }
      document.getElementById("now").replaceWith(document.importNode(page.getElementById("now"), true));
      last = new Date();
      live.textContent = "";
      main.classList.remove("stale");
    } catch {
      live.textContent = `Not updated since ${last.toLocaleTimeString()}. Trying again.`;
      main.classList.add("stale");
    }
  };

  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
    if (!paused) refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  setInterval(refresh, seconds * 1000);
})();
