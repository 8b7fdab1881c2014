// The question explorer: reads window.EXPLORER (explorer/data.js), shows every text as text, keeps its state in the hash.
"use strict";
(() => {
  const root = document.getElementById("explorer");
  const data = window.EXPLORER;
  if (!root || !data) return;
  const ALL = "";
  const state = { company: ALL, type: ALL, doc: ALL, method: data.best, condition: data.conditions[0], outcome: ALL, words: "" };
  let shown = data.questions;

  // An element with attributes and children; children are elements or plain text, never markup.
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null).map((child) => child instanceof Node ? child : String(child)));
    return node;
  }

  const titleOf = (name) => (data.methods.find((method) => method.name === name) || { title: name }).title;
  const nameOf = (question) => question.text || question.id;
  const isHit = (rank) => rank > 0 && rank <= data.k;

  // hit: every gold page is among the first k chunks; part: some are; miss: none is.
  function outcome(question, method = state.method, condition = state.condition) {
    const ranks = (question.ranks[condition] || {})[method];
    if (!ranks) return "no run";
    const found = ranks.filter(isHit).length;
    return found === ranks.length ? "hit" : found ? "part" : "miss";
  }

  function matches(question) {
    const words = state.words.toLowerCase();
    return (state.company === ALL || question.company === state.company)
      && (state.type === ALL || question.type === state.type)
      && (state.doc === ALL || question.doc === state.doc)
      && (state.outcome === ALL || outcome(question) === state.outcome)
      && (!words || `${question.id} ${question.text || ""} ${question.doc} ${question.company}`.toLowerCase().includes(words));
  }

  const distinct = (field) => [...new Set(data.questions.map((question) => question[field]))].sort();

  function select(label, field, options, first) {
    const box = make("select", { id: `explorer-${field}`, onchange: (event) => { state[field] = event.target.value; refresh(); } });
    if (first) box.append(make("option", { value: ALL }, first));
    for (const [value, text] of options) box.append(make("option", { value }, text));
    box.value = state[field];
    return make("label", { for: box.id }, label, box);
  }

  const same = (values) => values.map((value) => [value, value]);
  const search = make("input", {
    id: "explorer-words", type: "search", autocomplete: "off",
    oninput: (event) => { state.words = event.target.value; refresh(); },
  });
  const filters = make("form", { class: "filters", role: "search", "aria-label": "Filter the questions", onsubmit: (event) => event.preventDefault() },
    make("label", { for: "explorer-words" }, "Words or id", search),
    select("Company", "company", same(distinct("company")), "all companies"),
    select("Question type", "type", same(distinct("type")), "all types"),
    select("Filing", "doc", same(distinct("doc")), "all filings"),
    select("Method", "method", data.methods.map((method) => [method.name, method.title])),
    select("Condition", "condition", same(data.conditions)),
    select("Outcome", "outcome", [["hit", "hit: every gold page"], ["part", "part: some gold pages"], ["miss", "miss: no gold page"]], "hits and misses"),
  );
  const count = make("p", { class: "count", role: "status", "aria-live": "polite" });
  const list = make("ul", { class: "questions", role: "list", "aria-label": "Questions" });
  const detail = make("section", { class: "detail", "aria-label": "The chosen question", hidden: true });

  const linkOf = (question) => `#q=${encodeURIComponent(question.id)}`;

  function current() {
    const found = /^#q=(.+)$/.exec(location.hash);
    if (!found) return null;
    let id = found[1];
    try { id = decodeURIComponent(id); } catch { return null; }
    return data.questions.find((question) => question.id === id) || null;
  }

  function refresh() {
    shown = data.questions.filter(matches);
    const hits = shown.filter((question) => outcome(question) === "hit").length;
    count.textContent = `${shown.length} of ${data.questions.length} questions; ${titleOf(state.method)} hits every gold page of ${hits} (${state.condition}, first ${data.k} chunks).`;
    const chosen = current();
    list.replaceChildren(...shown.map((question) => make("li", {},
      make("a", { href: linkOf(question), "aria-current": question === chosen ? "true" : null },
        make("span", { class: "outcome" },
          make("span", { "aria-hidden": "true" }, { hit: "✓ ", part: "◐ ", miss: "✗ " }[outcome(question)] || ""), outcome(question)),
        make("span", { class: "title" }, nameOf(question),
          make("span", { class: "where" }, `${question.company} · ${question.doc} · ${question.type}`))))));
    if (chosen) showSteps(chosen);
  }

  function pages(question) {
    return question.gold.map((page) => `p. ${page}`).join(", ");
  }

  function rankCell(question, method, condition) {
    const ranks = (question.ranks[condition] || {})[method];
    if (!ranks) return make("td", { class: "rank" }, "–");
    const text = ranks.map((rank) => rank || `> ${data.depths[method][condition]}`).join(", ");
    const all = ranks.every(isHit), some = ranks.some(isHit);
    const [mark, said] = all ? ["✓", "found"] : some ? ["◐", "partly found"] : ["✗", "not found"];
    return make("td", { class: `rank ${all ? "is-hit" : some ? "" : "is-miss"}` }, `${text} `,
      make("span", { "aria-hidden": "true" }, mark), make("span", { class: "spoken" }, said));
  }

  function rankTable(question) {
    const head = make("tr", {}, make("th", { scope: "col" }, "Method"), ...data.conditions.map((condition) => make("th", { scope: "col" }, condition)));
    const rows = data.methods.map((method) => make("tr", {}, make("th", { scope: "row" }, method.title),
      ...data.conditions.map((condition) => rankCell(question, method.name, condition))));
    const caption = `Rank of the first chunk of each gold page (${pages(question)}); ✓ among the first ${data.k}`;
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ranks by method and condition" },
      make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows)));
  }

  function topTable(question) {
    const rows = data.methods.filter((method) => question.top[method.name]).map((method) => make("tr", {},
      make("th", { scope: "row" }, method.title),
      make("td", {}, question.top[method.name].map(([doc, page]) => `${doc} p. ${page}`).join(" · "))));
    if (!rows.length) return null;
    const head = make("tr", {}, make("th", { scope: "col" }, "Method"), make("th", { scope: "col" }, "Pages of the first chunks, best first"));
    return make("details", {}, make("summary", {}, "What each method read first (standard)"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pages read first" },
        make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  }

  function written(question) {
    if (!question.written.length) return null;
    const parts = question.written.map((item) => make("div", {},
      make("h4", {}, `${item.kind} (${item.model})`), make("p", { class: "written" }, item.text)));
    return make("details", { open: true }, make("summary", {}, "What language models wrote"), ...parts);
  }

  function pictures(question) {
    if (!question.pictures.length) return null;
    const parts = question.pictures.map((picture) => {
      const what = `${picture.isGold ? "Gold page" : `First page of ${titleOf(data.best)}`}: ${picture.doc}, p. ${picture.page}`;
      return make("figure", {}, make("img", { src: `../_static/explorer/${encodeURIComponent(picture.file)}`, alt: what, loading: "lazy" }), make("figcaption", {}, what));
    });
    return make("div", {}, make("h3", {}, "Pages"), make("div", { class: "pictures" }, ...parts));
  }

  const steps = make("div", { class: "steps" });
  const go = (question) => { location.hash = linkOf(question); };

  function showSteps(question) {
    const place = shown.indexOf(question);
    const previous = shown[place - 1], next = place >= 0 ? shown[place + 1] : shown[0];
    steps.replaceChildren(
      make("button", { type: "button", disabled: !previous, onclick: () => go(previous) }, "← Previous"),
      make("button", { type: "button", disabled: !next, onclick: () => go(next) }, "Next →"),
      make("button", { type: "button", onclick: () => { filters.scrollIntoView(); search.focus(); } }, "Back to the filters"));
  }

  function show(question, focus) {
    detail.hidden = !question;
    if (!question) return;
    const heading = make("h2", { tabindex: "-1" }, nameOf(question));
    const facts = make("dl", { class: "facts" });
    const add = (name, value) => { if (value) facts.append(make("dt", {}, name), make("dd", {}, value)); };
    add("Id", question.id);
    add("Answer", question.answer);
    add("Type", question.type);
    add("Company", question.company);
    add("Filing", `${question.doc} (${question.docType})`);
    add("Gold pages", pages(question));
    showSteps(question);
    detail.replaceChildren(...[heading, steps, facts,
      data.provenance ? make("p", {}, data.provenance) : null,
      rankTable(question), topTable(question), written(question), pictures(question)].filter(Boolean));
    if (focus) { heading.focus({ preventScroll: true }); heading.scrollIntoView(); }
  }

  window.addEventListener("hashchange", () => { refresh(); show(current(), true); });
  root.replaceChildren(filters, count, list, detail);
  refresh();
  show(current(), Boolean(current()));
})();
