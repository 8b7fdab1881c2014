// The leaderboard: rows are folded into families and filtered, columns are chosen; the address has what was chosen.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const root = document.getElementById("board");
  if (!root) return;
  const form = root.querySelector("form"), count = root.querySelector(".count"), table = root.querySelector("table");
  const [body] = table.tBodies, heads = [...table.tHead.rows[0].cells];
  const opened = new Set(), usual = new FormData(form).getAll("columns");
  let rows = [...body.rows];  // as they are sorted

  const sizes = new Map();
  for (const row of rows) sizes.set(row.dataset.family, (sizes.get(row.dataset.family) || 0) + 1);
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

  // The first row of a family stands for it; where the family is open, the others follow it.
  function arrange() {
    const given = new FormData(form), words = given.get("method").toLowerCase(), without = given.getAll("without");
    const isWanted = (row) => !without.some((need) => row.dataset.needs.split("; ").includes(need))
      && row.querySelector(".title").textContent.toLowerCase().includes(words);
    const isFlat = words || given.has("open"), families = new Map();
    for (const row of rows) {
      const name = isFlat ? row : row.dataset.family;
      row.hidden = !isWanted(row);
      if (!row.hidden) families.set(name, [...(families.get(name) || []), row]);
    }
    for (const [name, members] of families) {
      members.forEach((row, place) => {
        const button = row.querySelector(".fold"), isOpen = isFlat || opened.has(name);
        row.classList.toggle("is-folded", place > 0 && !isOpen);
        row.classList.toggle("is-member", place > 0);
        button.hidden = place > 0 || members.length < 2;
        button.textContent = `${isOpen ? "−" : "+"} ${members.length - 1} variant${members.length > 2 ? "s" : ""}`;
        button.setAttribute("aria-expanded", String(isOpen));
      });
    }
    body.append(...[...families.values()].flat(), ...rows.filter((row) => row.hidden));
    const shown = [...body.rows].filter((row) => !row.hidden && !row.classList.contains("is-folded")).length;
    count.textContent = `${shown} of ${rows.length} rows. Click a head to sort by it; “+” opens a family.`;
  }

  function choose() {
    const chosen = new Set(new FormData(form).getAll("columns"));
    heads.forEach((head, column) => {
      const { group, of } = head.dataset, isHidden = Boolean((group && !chosen.has(group)) || (of && !chosen.has(of)));
      if (head.hidden !== isHidden) for (const row of [table.tHead.rows[0], ...rows]) row.cells[column].hidden = isHidden;
    });
  }

  // What differs from the defaults; without anything, the address is the page's own.
  function stateOf() {
    const given = new FormData(form), found = new URLSearchParams();
    const sorted = heads.find((head) => head.hasAttribute("aria-sort")), columns = given.getAll("columns");
    if (given.get("method")) found.set("method", given.get("method"));
    for (const need of given.getAll("without")) found.append("without", need);
    if (String(columns) !== String(usual)) for (const one of columns.length ? columns : [""]) found.append("columns", one);
    for (const name of [...given.getAll("open"), ...opened]) found.append("open", name);
    if (sorted) found.set("sort", `${sorted.getAttribute("aria-sort")} ${sorted.dataset.key}`);
    return found.size ? `?${found}` : location.pathname;
  }

  function refresh() {
    arrange();
    choose();
    history.replaceState(null, "", stateOf() + location.hash);
  }

  function takeAddress() {
    const given = new URLSearchParams(location.search), [order, ...key] = (given.get("sort") || "").split(" ");
    form.elements.method.value = given.get("method") || "";
    for (const box of form.querySelectorAll("[type=checkbox]")) {
      box.checked = given.has(box.name) ? given.getAll(box.name).includes(box.value) : box.defaultChecked;
    }
    for (const name of given.getAll("open")) if (sizes.has(name)) opened.add(name);
    const button = heads.find((head) => head.dataset.key === key.join(" "))?.querySelector("button");
    for (let clicks = 0; button && clicks < 2 && button.parentElement.getAttribute("aria-sort") !== order; clicks += 1) button.click();
  }

  table.addEventListener("sorted", (event) => { rows = event.detail; refresh(); });
  takeAddress();
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  refresh();
});
