// Cells of the map are selected for what is to be done with their nodes: by Select and a click on each, by pulling the
// pointer over a range, by Shift and a click; by keyboard with Space, and with Shift and an arrow. The list of the
// selected nodes is the same as one by a filter.
"use strict";
(() => {
  const CELLS = "#map .cells .c";
  // The longest address that every server and browser takes.
  const LONGEST = 8000;
  // What is selected, by the cells' addresses: the cells themselves change while the page is live.
  const chosen = new Set();
  // How many cells can't be selected of those that were meant last.
  let refused = 0;
  let isSelecting = false;
  let anchor = null;
  // Where the pointer was pressed; "done" once a range is pulled from there, beside what was selected before.
  let pulled = null;
  let before = [];

  const all = () => [...document.querySelectorAll(CELLS)];
  const key = (cell) => cell.getAttribute("href");

  // The nodes of a cell: a name, or a set.
  function nodes(href) {
    const url = new URL(href, location.href);
    return url.searchParams.get("q") || decodeURIComponent(url.pathname.split("/").pop());
  }

  // Names such as cn001 and cn002 as one range; sets stay as they are.
  function fold(names) {
    const ranges = new Map();
    const rest = [];
    for (const name of names) {
      const parts = /^([^[\],]*?)(\d{1,15})$/.exec(name);
      if (!parts) {
        rest.push(name);
        continue;
      }
      const [, prefix, digits] = parts;
      const same = `${prefix} ${digits.length}`;
      if (!ranges.has(same)) ranges.set(same, { prefix, width: digits.length, numbers: [] });
      ranges.get(same).numbers.push(Number(digits));
    }
    for (const { prefix, width, numbers } of ranges.values()) {
      numbers.sort((a, b) => a - b);
      const text = (number) => String(number).padStart(width, "0");
      const parts = [];
      for (let at = 0; at < numbers.length; at += 1) {
        const first = numbers[at];
        while (numbers[at + 1] === numbers[at] + 1) at += 1;
        parts.push(first === numbers[at] ? text(first) : `${text(first)}-${text(numbers[at])}`);
      }
      const isOne = parts.length === 1 && !parts[0].includes("-");
      rest.push(isOne ? prefix + parts[0] : `${prefix}[${parts.join(",")}]`);
    }
    return rest.join(",");
  }

  // Shows what is selected, also after the page has changed.
  function show() {
    const there = new Set();
    for (const cell of all()) {
      const isChosen = chosen.has(key(cell));
      if (isChosen) there.add(key(cell));
      cell.classList.toggle("s", isChosen);
    }
    for (const href of chosen) if (!there.has(href)) chosen.delete(href);
    const bar = document.getElementById("map-chosen");
    if (!bar) return;
    const set = fold([...chosen].map(nodes));
    const href = `/nodes?q=${encodeURIComponent(set)}`;
    const isLong = href.length > LONGEST;
    const word = chosen.size === 1 ? "cell" : "cells";
    const parts = [];
    if (chosen.size > 0) {
      parts.push(isLong ? `${chosen.size} ${word}: too many to list; open a rack, a group or a filter instead`
        : `${chosen.size} ${word}: ${set}`);
    }
    if (refused > 0) {
      parts.push(`${refused} ${refused === 1 ? "cell" : "cells"} can't be selected: no short set names the nodes`);
    }
    bar.querySelector("output").textContent = parts.join("; ") || (isSelecting ? "Nothing selected" : "");
    const list = bar.querySelector("a");
    list.hidden = chosen.size === 0 || isLong;
    list.href = href;
    bar.querySelector("[data-clear]").hidden = chosen.size === 0;
    bar.querySelector("[data-select]").setAttribute("aria-pressed", String(isSelecting));
    document.getElementById("map").classList.toggle("selecting", isSelecting);
  }

  // Whether the nodes of a cell can be named: of some, only the worst is linked.
  const isNamed = (cell) => !cell.hasAttribute("data-some");

  function put(cell, is) {
    if (isNamed(cell)) chosen[is ? "add" : "delete"](key(cell));
    else if (is) refused += 1;
  }

  function toggle(cell) {
    refused = 0;
    put(cell, !chosen.has(key(cell)));
    anchor = key(cell);
    show();
  }

  // From the last one that was selected to this one.
  function extend(cell) {
    const cells = all();
    const from = cells.findIndex((one) => key(one) === anchor);
    const to = cells.indexOf(cell);
    const [first, last] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    if (from < 0) anchor = key(cell);
    refused = 0;
    cells.slice(first, last + 1).forEach((one) => put(one, true));
    show();
  }

  const cellOf = (event) => event.target.closest?.(CELLS);

  addEventListener("click", (event) => {
    const button = event.target.closest?.("#map-chosen button");
    if (button) {
      if (button.hasAttribute("data-select")) isSelecting = !isSelecting;
      if (button.hasAttribute("data-clear") || !isSelecting) chosen.clear();
      refused = 0;
      show();
      return;
    }
    const cell = cellOf(event);
    if (!cell || event.detail === 0) return;
    if (pulled === "done") {
      event.preventDefault();
    } else if (event.shiftKey) {
      event.preventDefault();
      extend(cell);
    } else if (isSelecting && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      toggle(cell);
    }
    pulled = null;
  });

  // A range by pulling. A finger scrolls.
  addEventListener("pointerdown", (event) => {
    const cell = cellOf(event);
    pulled = cell && event.button === 0 && event.pointerType !== "touch" ? key(cell) : null;
  });
  addEventListener("dragstart", (event) => {
    if (cellOf(event)) event.preventDefault();
  });
  addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (!cell || !pulled || !(event.buttons & 1)) return;
    if (pulled !== "done") {
      if (key(cell) === pulled) return;
      [anchor, pulled, before] = [pulled, "done", [...chosen]];
    }
    chosen.clear();
    before.forEach((href) => chosen.add(href));
    extend(cell);
  });
  addEventListener("pointerup", (event) => {
    // The click comes after it; over another cell there is none.
    if (pulled === "done") setTimeout(() => { pulled = null; });
  });

  addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " ") {
      event.preventDefault();
      toggle(cell);
    } else if (event.shiftKey && event.key.startsWith("Arrow") && !chosen.has(anchor)) {
      // The range begins where the focus was.
      anchor = key(cell);
    } else if (event.key === "Escape" && chosen.size + refused > 0) {
      chosen.clear();
      refused = 0;
      show();
    }
  });
  // The arrows have gone to another cell by then.
  addEventListener("keyup", (event) => {
    const cell = cellOf(event);
    if (cell && event.shiftKey && event.key.startsWith("Arrow")) extend(cell);
  });

  const map = document.getElementById("map");
  if (!map) return;
  show();
  // What is live changes the cells.
  new MutationObserver(() => {
    if (chosen.size > 0 && all().some((cell) => cell.classList.contains("s") !== chosen.has(key(cell)))) show();
  }).observe(map, { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "href"] });
})();
