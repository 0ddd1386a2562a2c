// Keeps an open page as it would be after a reload. The server sends the content of the page whenever
// it changes; what is equal stays, and with it the focus, what is selected and what is opened.
"use strict";

// How long to wait before a connection that was refused is tried again, in milliseconds.
const AGAIN = 5000;

const main = document.getElementById("main");
const live = document.getElementById("live");
let source = null;
let waiting = 0;

function say(text, isBad) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("bad", isBad);
}

// Whether `before` is what `after` becomes.
function isSame(before, after) {
  return before.nodeType === after.nodeType && before.nodeName === after.nodeName &&
    (before.id || "") === (after.id || "");
}

// Makes the children of `before` what those of `after` are.
function update(before, after) {
  const known = new Map();
  for (const child of before.children) if (child.id) known.set(child.id, child);
  let at = before.firstChild;
  for (const next of [...after.childNodes]) {
    let same = next.id ? known.get(next.id) : at;
    if (!same || !isSame(same, next)) {
      before.insertBefore(next, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else before.insertBefore(same, at);
    change(same, next);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// Makes one node what another one is.
function change(before, after) {
  if (before.nodeType !== Node.ELEMENT_NODE) {
    if (before.nodeValue !== after.nodeValue) before.nodeValue = after.nodeValue;
    return;
  }
  // What somebody fills in, or has opened, is theirs.
  if (before.hasAttribute("data-keep")) return;
  for (const { name, value } of after.attributes) {
    if (before.getAttribute(name) !== value) before.setAttribute(name, value);
  }
  for (const { name } of [...before.attributes]) {
    if (!after.hasAttribute(name) && name !== "open") before.removeAttribute(name);
  }
  const isAtEnd = before.classList.contains("tail") &&
    before.scrollTop + before.clientHeight >= before.scrollHeight - 4;
  update(before, after);
  if (isAtEnd) before.scrollTop = before.scrollHeight;
}

// The icon in the tab turns red while something has failed.
function show() {
  const failed = document.getElementById("site-failed");
  const icon = document.getElementById("icon");
  if (!failed || !icon) return;
  const href = Number(failed.dataset.count) > 0 ? icon.dataset.failed : icon.dataset.good;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

function disconnect() {
  clearTimeout(waiting);
  if (source) source.close();
  source = null;
}

function connect() {
  disconnect();
  // A browser has few connections to one server: a tab that nobody sees needs none.
  if (document.hidden || !main.hasAttribute("data-live")) return;
  source = new EventSource(location.pathname + location.search);
  source.addEventListener("content", (event) => {
    const text = new DOMParser().parseFromString(event.data, "text/html");
    update(main, text.body);
    show();
    say("live", false);
  });
  source.addEventListener("error", () => {
    say("connection lost, retrying", true);
    if (source.readyState === EventSource.CLOSED) waiting = setTimeout(connect, AGAIN);
  });
}

for (const tail of document.querySelectorAll(".tail")) tail.scrollTop = tail.scrollHeight;
document.addEventListener("visibilitychange", connect);
addEventListener("pagehide", disconnect);
addEventListener("pageshow", connect);
// "/" goes to the filter, as in a pager.
addEventListener("keydown", (event) => {
  const filter = document.querySelector("form.filter input");
  if (event.key !== "/" || !filter || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  filter.focus();
});
// Shows the values below the pointer on a chart of the history: a column of it is a row of the table.
addEventListener("pointermove", (event) => {
  // Where nothing has happened yet, there are no values.
  const value = document.querySelector(".history .value");
  if (!value) return;
  const section = value.closest(".history");
  const plot = event.target.closest?.(".history svg");
  const rows = section.querySelectorAll("tbody tr");
  let text = "";
  if (plot && rows.length) {
    const box = plot.getBoundingClientRect();
    const at = Math.floor((event.clientX - box.left) / box.width * rows.length);
    const cells = [...rows[Math.min(Math.max(at, 0), rows.length - 1)].cells];
    const names = [...section.querySelectorAll("thead th")].map((name) => name.textContent);
    const values = cells.map((cell, n) => cell.textContent && `${cell.textContent} ${names[n]}`);
    text = `${cells[0].textContent}: ${values.slice(1).filter(Boolean).join(", ") || "nothing"}`;
  }
  if (value.textContent !== text) value.textContent = text;
});
