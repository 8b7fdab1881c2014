// Long tables are sorted by a click on a head: once, the other way round, as they were.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 8;
  const IS_COST = /rank|second|token|pairs|parameters|memory|\bp\b/i;  // the least first
  const SUMS_UP = /^(κ|(all|mean|total)\b)/i;  // such a row stays below the others
  const NUMBER = /^[-+−]?\d[\d,]*(\.\d+)?/;

  const textOf = (cell) => ("v" in cell.dataset ? cell.dataset.v : cell.textContent).trim();
  const isNone = (text) => ["", "–", "nan"].includes(text);
  const valueOf = (text) => parseFloat(text.replace("−", "-").replace(/,|^< /g, ""));

  // Numbers by value, text by the alphabet; what was not measured comes last.
  function sorted(rows, column, isRising) {
    const texts = new Map(rows.map((row) => [row, textOf(row.cells[column])]));
    const isNumeric = rows.every((row) => isNone(texts.get(row)) || NUMBER.test(texts.get(row)));
    const sumsUp = (row) => SUMS_UP.test(textOf(row.cells[0]));
    return [...rows].sort((one, other) => {
      if (sumsUp(one) || sumsUp(other)) return sumsUp(one) - sumsUp(other);
      const [a, b] = [texts.get(one), texts.get(other)];
      if (isNone(a) || isNone(b)) return isNone(a) - isNone(b);
      return (isNumeric ? valueOf(a) - valueOf(b) : a.localeCompare(b)) * (isRising ? 1 : -1);
    });
  }

  // A row that continues the one above it, its first cell empty, must stay where it is.
  function isSortable(table) {
    const rows = table.tBodies.length === 1 ? [...table.tBodies[0].rows] : [];
    return rows.length >= LONG && table.tHead?.rows.length === 1 && !table.querySelector("[rowspan], [colspan]")
      && rows.every((row) => row.cells.length === table.tHead.rows[0].cells.length && textOf(row.cells[0]));
  }

  function makeSortable(table) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows];
    table.classList.add("is-sortable");
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...(head.querySelector("p") || head).childNodes);
      const first = IS_COST.test(button.textContent) || !rows.some((row) => NUMBER.test(textOf(row.cells[column])))
        ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      button.addEventListener("click", () => {
        const next = { [first]: other, [other]: null }[head.getAttribute("aria-sort")];
        const order = next === undefined ? first : next;
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        if (order) head.setAttribute("aria-sort", order);
        const arranged = order ? sorted(rows, column, order === "ascending") : rows;
        body.append(...arranged);
        table.dispatchEvent(new CustomEvent("sorted", { detail: arranged }));
      });
      head.replaceChildren(button);
    });
  }

  for (const table of document.querySelectorAll("table.study-table, table.board")) if (isSortable(table)) makeSortable(table);
});
