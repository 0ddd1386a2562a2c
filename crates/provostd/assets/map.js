// The map by mouse and by keyboard: what a cell is stands below the legend, and arrows go from cell to cell.
// Without this the cells are links with a title.
"use strict";

function cellOf(event) {
  return event.target.closest?.("#map .cells .c");
}

function tell(event) {
  const cell = cellOf(event);
  const said = document.getElementById("map-said");
  if (cell && said) said.textContent = cell.title;
}

// The cell next to this one in a direction: in a row before or after, that which is above or below.
function next(cells, cell, key) {
  const at = cells.indexOf(cell);
  if (key === "ArrowLeft") return cells[at - 1];
  if (key === "ArrowRight") return cells[at + 1];
  if (key === "Home") return cells[0];
  if (key === "End") return cells[cells.length - 1];
  const step = key === "ArrowDown" ? 1 : -1;
  const here = cell.getBoundingClientRect();
  let best = null;
  let distance = Infinity;
  for (let n = at + step; cells[n]; n += step) {
    const there = cells[n].getBoundingClientRect();
    const down = (there.top - here.top) * step;
    if (down < here.height / 2) continue;
    const far = Math.abs(there.left - here.left) + 100 * down;
    if (far < distance) [best, distance] = [cells[n], far];
    else if (best && down > 4 * here.height) break;
  }
  return best;
}

addEventListener("mouseover", tell);
addEventListener("focusin", tell);
addEventListener("keydown", (event) => {
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
  const cell = cellOf(event);
  const isMap = event.target.id === "map-cells";
  if (!cell && !isMap) return;
  if (!keys.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const cells = [...document.querySelectorAll("#map .cells .c")];
  (isMap ? cells[0] : next(cells, cell, event.key))?.focus();
});
