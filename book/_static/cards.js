// A page of cards, or of papers' tables: a filter by words and by group finds one of them.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".card-filter");
  if (!place) return;
  const groups = [...document.querySelectorAll(".bd-article section > section:has(> section)")];
  const cards = groups.flatMap((group) => [...group.querySelectorAll(":scope > section")].map((card) => (
    { card, group, text: card.textContent.toLowerCase() })));
  const titleOf = (group) => group.querySelector("h2").firstChild.textContent.trim();

  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(`${text} `, control);
    return label;
  };
  const words = document.createElement("input");
  words.type = "search";
  const chosen = document.createElement("select");
  chosen.add(new Option("all", ""));
  for (const group of groups) chosen.add(new Option(titleOf(group), group.id));
  const count = document.createElement("output");
  place.append(labelled("Filter", words), labelled(place.dataset.groups, chosen), count);

  function update() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { card, group, text } of cards) {
      card.hidden = (chosen.value && group.id !== chosen.value) || !wanted.every((word) => text.includes(word));
    }
    for (const group of groups) group.hidden = cards.every((one) => one.group !== group || one.card.hidden);
    count.textContent = `${cards.filter((one) => !one.card.hidden).length} of ${cards.length}`;
  }

  // A link to a card shows it, whatever the filter hides.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    words.value = chosen.value = "";
    update();
    target.scrollIntoView();
  }

  words.addEventListener("input", update);
  chosen.addEventListener("change", update);
  window.addEventListener("hashchange", reveal);
  update();
});
