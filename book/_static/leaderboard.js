// The leaderboard: sorts the rows of a plain table by a column, and leaves out those that the filters name.
"use strict";
(() => {
  const root = document.getElementById("leaderboard");
  if (!root) return;
  const form = root.querySelector("form"), body = root.querySelector("tbody"), count = root.querySelector(".count");
  const rows = [...body.rows];
  const set = root.querySelector("#board-set"), words = root.querySelector("#board-words");
  const unwanted = () => [...form.querySelectorAll("input:checked")].map((box) => box.value);

  function filter() {
    const out = unwanted(), text = words.value.toLowerCase();
    root.classList.toggle("is-one-set", Boolean(set.value));
    for (const row of rows) {
      const needs = row.dataset.needs.split("; ");
      row.hidden = (set.value && row.dataset.set !== set.value) || out.some((need) => needs.includes(need))
        || !row.cells[0].textContent.toLowerCase().includes(text);
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  }

  // Numbers by value, those that were not measured last; text by the alphabet.
  function sort(column, isRising) {
    const key = (row) => {
      const cell = row.cells[column];
      return "v" in cell.dataset ? parseFloat(cell.dataset.v) : cell.textContent.trim().toLowerCase();
    };
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return (x < y ? -1 : x > y ? 1 : 0) * (isRising ? 1 : -1);
    };
    body.append(...rows.sort(compare));
  }

  const heads = [...root.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      const isRising = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "ascending" : column < 3 || column > 5;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
      sort(column, isRising);
    });
    head.append(button);
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
