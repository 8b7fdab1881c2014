// The leaderboard: rows are folded into families and filtered, columns are chosen.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("board");
  if (!root) return;
  const form = root.querySelector("form"), count = root.querySelector(".count"), table = root.querySelector("table");
  const [body] = table.tBodies, heads = [...table.tHead.rows[0].cells], opened = new Set();
  let rows = [...body.rows]; // as they are sorted

  for (const row of rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "fold";
    button.addEventListener("click", () => {
      if (!opened.delete(row.dataset.family)) opened.add(row.dataset.family);
      refresh();
    });
    row.querySelector(".title").after(button);
  }

  const rankOf = (row) => Number(row.cells[0].textContent);
  const ranksOf = (members) => {
    const ranks = members.map(rankOf).filter(Boolean), [least, most] = [Math.min(...ranks), Math.max(...ranks)];
    return ranks.length ? `, rank${least < most ? `s ${least} to ${most}` : ` ${least}`}` : "";
  };

  // Of rows that share the best rank of a family, the first that was timed stands for it.
  const timed = heads.findIndex((head) => head.dataset.key === "question_s");
  function standFirst(members) {
    const row = members.find((one) => rankOf(one) === rankOf(members[0]) && one.cells[timed]?.dataset.v);
    if (row) members.unshift(...members.splice(members.indexOf(row), 1));
  }

  // The first row of a family, in the order of the table, stands for it; where it is open, the others follow it.
  function refresh() {
    const given = new FormData(form), words = given.get("method").toLowerCase(), without = given.getAll("without");
    const isFlat = words || given.has("open"), families = new Map();
    for (const row of rows) {
      row.hidden = without.some((need) => row.dataset.needs.split("; ").includes(need))
        || !row.querySelector(".title").textContent.toLowerCase().includes(words);
      const family = isFlat ? row : row.dataset.family;
      if (!row.hidden) families.set(family, [...(families.get(family) || []), row]);
    }
    for (const [family, members] of families) {
      if (!heads.some((head) => head.hasAttribute("aria-sort"))) standFirst(members);
      const isOpen = isFlat || opened.has(family), n = members.length - 1;
      members.forEach((row, place) => {
        const button = row.querySelector(".fold");
        row.classList.toggle("is-folded", place > 0 && !isOpen);
        row.classList.toggle("is-member", place > 0);
        button.hidden = place > 0 || !n;
        button.textContent = `${isOpen ? "− fold" : `+ ${n} more`}: ${family}${isOpen ? "" : ranksOf(members.slice(1))}`;
        button.setAttribute("aria-expanded", String(isOpen));
      });
    }
    body.append(...[...families.values()].flat(), ...rows.filter((row) => row.hidden));
    const shown = rows.filter((row) => !row.hidden && !row.classList.contains("is-folded")).length;
    count.textContent = `${shown} of ${rows.length} rows; a folded family shows its best row in this order. Click a column header to sort.`;
    const columns = new Set(given.getAll("columns"));
    heads.forEach((head, column) => {
      const { group, of } = head.dataset, isHidden = Boolean((group && !columns.has(group)) || (of && !columns.has(of)));
      if (head.hidden !== isHidden) for (const row of table.rows) row.cells[column].hidden = isHidden;
    });
  }

  table.addEventListener("sorted", (event) => { rows = event.detail; refresh(); });
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  refresh();
});
