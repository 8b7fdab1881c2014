// The question explorer: reads window.EXPLORER (explorer/data.js), shows every text as text, keeps its state in the hash.
"use strict";
(() => {
  const root = document.getElementById("explorer");
  const data = window.EXPLORER;
  if (!root || !data) return;
  const ALL = "";
  const STANDARD = data.conditions[0];
  const RULES = "rules"; // in place of a model's name: the answer was calculated
  const defaults = { words: "", company: ALL, type: ALL, doc: ALL, method: data.best, condition: STANDARD, outcome: ALL, kind: ALL, other: ALL };
  const state = { ...defaults };
  let shown = data.questions;
  const placeOf = new Map(data.methods.map((method, place) => [method.name, place]));
  const SAID = { standard: "all filings", "oracle-document": "filing given", "oracle-page": "pages given" };
  // What became of a question: the mark and the words of the list, and the words of the legend.
  const STATUS = {
    hit: ["■", "found", "found, every gold page"], part: ["◧", "partly", "some gold pages found"],
    page: ["□", "wrong page", "right filing, wrong page"], filing: ["×", "wrong filing", "wrong filing"], none: ["·", "no run", "no run"],
  };
  const LABELS = { full: "answers in full", part: "answers in part", no: "does not answer" };
  const ranksOf = (question, method, condition) => (question.ranks[condition] || [])[placeOf.get(method)];

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

  const titleOf = (name) => (data.methods[placeOf.get(name)] || { title: name }).title;
  const nameOf = (question) => question.text || question.id;
  const pageName = (doc, page) => (page < 0 ? `${doc}, no page` : `${doc} p. ${page}`);
  const isHit = (rank) => rank > 0 && rank <= data.k;

  // A key of STATUS; the filing is right where one of the first k chunks is from it, or where it was given.
  function outcome(question, method = state.method, condition = state.condition) {
    const ranks = ranksOf(question, method, condition);
    if (!ranks) return "none";
    const found = ranks.filter(isHit).length;
    if (found) return found === ranks.length ? "hit" : "part";
    return condition !== STANDARD || question.filing[placeOf.get(method)] === "1" ? "page" : "filing";
  }

  // A question is won where the chosen method hits and the other one does not, lost the other way round.
  function isOutcome(question) {
    const own = outcome(question), other = outcome(question, state.other);
    if (state.outcome === "miss") return own === "page" || own === "filing";
    if (state.outcome === "won") return own === "hit" && !["hit", "none"].includes(other);
    if (state.outcome === "lost") return other === "hit" && !["hit", "none"].includes(own);
    return state.outcome === ALL || own === state.outcome;
  }

  function matches(question) {
    const text = `${question.id} ${question.text || ""} ${question.doc} ${question.company} ${question.type}`.toLowerCase();
    return (state.company === ALL || question.company === state.company)
      && (state.type === ALL || question.type === state.type)
      && (state.doc === ALL || question.doc === state.doc)
      && (state.kind === ALL || (question.kinds[state.method] || []).includes(state.kind))
      && isOutcome(question)
      && state.words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  // Page recall over questions under the chosen condition: the mean share of gold pages among the first k chunks.
  function recallOf(method, questions) {
    const ranks = questions.map((question) => ranksOf(question, method, state.condition)).filter(Boolean);
    return ranks.length ? ranks.reduce((sum, one) => sum + one.filter(isHit).length / one.length, 0) / ranks.length : -1;
  }

  function bestFirst(questions) {
    const recalls = new Map(data.methods.map((method) => [method, recallOf(method.name, questions)]));
    return data.methods.filter((method) => recalls.get(method) >= 0).sort((a, b) => recalls.get(b) - recalls.get(a));
  }

  const distinct = (field) => [...new Set(data.questions.map((question) => question[field]))].sort();

  function select(label, field, options, first) {
    const box = make("select", { id: `explorer-${field}`, onchange: (event) => { state[field] = event.target.value; change(); } });
    if (first) box.append(make("option", { value: ALL }, first));
    for (const [value, text] of options) box.append(make("option", { value }, text));
    box.value = state[field];
    return make("label", { for: box.id }, label, box);
  }

  const same = (values) => values.map((value) => [value, value]);
  const search = make("input", {
    id: "explorer-words", type: "search", autocomplete: "off",
    oninput: (event) => { state.words = event.target.value; change(); },
  });
  const filters = make("form", { class: "filters", role: "search", "aria-label": "Filter the questions", onsubmit: (event) => event.preventDefault() },
    make("label", { for: "explorer-words" }, "Words or id", search),
    select("Company", "company", same(distinct("company")), "all companies"),
    select("Question type", "type", same(distinct("type")), "all types"),
    select("Filing", "doc", same(distinct("doc")), "all filings"),
    select("Method", "method", data.methods.map((method) => [method.name, method.title])),
    select("Condition", "condition", data.conditions.map((name) => [name, SAID[name] || name])),
    select("Outcome", "outcome", [...["hit", "part", "page", "filing"].map((name) => [name, STATUS[name][2]]), ["miss", "no gold page found"],
      ["won", "found, but not by the other method"], ["lost", "not found, but by the other method"]], "all outcomes"),
    select("Kind of failure", "kind", same(Object.keys(data.kinds).filter((kind) => data.questions.some((one) => Object.values(one.kinds).flat().includes(kind)))), "all kinds"),
    select("Other method", "other", data.methods.map((method) => [method.name, method.title]), "none"),
  );
  const count = make("p", { class: "count", role: "status", "aria-live": "polite" });
  const summary = make("details", { class: "summary", open: true });
  const legend = make("p", { class: "legend" });
  const list = make("ul", { class: "questions", role: "list", "aria-label": "Questions" });
  const detail = make("section", { class: "detail", "aria-label": "The chosen question", hidden: true });

  // The address has the question and each filter that is not at its default: it can be copied and sent.
  function linkOf(question, changed = {}) {
    const parts = question ? [["q", question.id]] : [], wanted = { ...state, ...changed };
    for (const name of Object.keys(defaults)) if (wanted[name] !== defaults[name]) parts.push([name, wanted[name]]);
    return `#${parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
  }

  function fromAddress() {
    const found = {};
    for (const part of location.hash.slice(1).split("&")) {
      const [name, value] = part.split("=");
      try { found[name] = decodeURIComponent(value || ""); } catch { return {}; }
    }
    return found;
  }

  const current = () => data.questions.find((question) => question.id === fromAddress().q) || null;

  function takeAddress() {
    const given = fromAddress();
    for (const name of Object.keys(defaults)) {
      const box = document.getElementById(`explorer-${name}`) || filters.querySelector(`#explorer-${name}`);
      box.value = name in given ? given[name] : defaults[name];
      if (box.tagName === "SELECT" && box.selectedIndex < 0) box.value = defaults[name];
      state[name] = box.value;
    }
  }

  // A filter was changed: the address follows without a new entry in the history.
  function change() {
    history.replaceState(null, "", linkOf(current()));
    refresh();
    show(current(), false);
  }

  function refresh() {
    shown = data.questions.filter(matches);
    const docs = new Set(data.questions.filter((one) => state.company === ALL || one.company === state.company).map((one) => one.doc));
    for (const option of filters.querySelector("#explorer-doc").options) option.hidden = option.value !== ALL && !docs.has(option.value);
    const hits = shown.filter((question) => outcome(question) === "hit").length;
    const said = state.outcome === ALL ? `; ${titleOf(state.method)} finds every gold page of ${hits} (${SAID[state.condition]}, first ${data.k} chunks)` : "";
    const sorted = data.methods.filter((method) => data.questions.some((question) => question.kinds[method.name]));
    const kind = state.kind === ALL ? "" : sorted.includes(data.methods[placeOf.get(state.method)]) ? ` ${state.kind}: ${data.kinds[state.kind]}.`
      : ` Kinds of failure are known of ${sorted.map((method) => method.title).join(" and ")} only.`;
    const isFiltered = Object.keys(defaults).some((name) => state[name] !== defaults[name]);
    count.replaceChildren(`${shown.length} of ${data.questions.length} questions${said}.${kind} `, isFiltered ? make("a", { href: "#" }, "Clear the filters") : "");
    showSummary();
    const columns = bestFirst(data.questions).filter((method) => method.isMain || [state.method, state.other].includes(method.name));
    const chosen = current();
    legend.replaceChildren("One mark per method, the best over all questions first, the chosen one underlined: ", ...["hit", "part", "page", "filing"].flatMap((name) => [
      make("span", { class: `sign ${name}`, "aria-hidden": "true" }, STATUS[name][0]), ` ${STATUS[name][2]}${name === "filing" ? "." : ", "}`]));
    list.replaceChildren(...shown.map((question) => make("li", {},
      make("a", { href: linkOf(question), "aria-current": question === chosen ? "true" : null },
        make("span", { class: "outcome" }, make("span", { class: `sign ${outcome(question)}`, "aria-hidden": "true" }, STATUS[outcome(question)][0]), ` ${STATUS[outcome(question)][1]}`),
        make("span", { class: "title" }, nameOf(question),
          make("span", { class: "where" }, `${question.company} · ${question.doc} · ${question.type}`), strip(question, columns))))));
    if (chosen) showSteps(chosen);
  }

  function strip(question, columns) {
    const found = columns.map((method) => [method, outcome(question, method.name)]);
    const counts = Object.keys(STATUS).map((name) => [name, found.filter(([, one]) => one === name).length]).filter(([, n]) => n);
    return make("span", { class: "strip", role: "img", "aria-label": `Of ${found.length} methods: ${counts.map(([name, n]) => `${n} ${STATUS[name][1]}`).join(", ")}` },
      ...found.map(([method, name]) => make("span", { class: `sign ${name}${method.name === state.method ? " is-chosen" : ""}`, title: `${method.title}: ${STATUS[name][2]}` }, STATUS[name][0])));
  }

  // What the filter holds, by method: page recall, and the share of questions with each outcome.
  function showSummary() {
    const names = ["hit", "part", "page", "filing"];
    const row = (method) => {
      const outcomes = shown.map((question) => outcome(question, method.name)), n = outcomes.filter((one) => one !== "none").length;
      return make("tr", { class: method.name === state.method ? "is-chosen" : null },
        make("th", { scope: "row" }, make("a", { href: linkOf(current(), { method: method.name }) }, method.title)),
        make("td", {}, recallOf(method.name, shown).toFixed(2)),
        ...names.map((name) => {
          const share = Math.round(100 * outcomes.filter((one) => one === name).length / n), cell = make("td", { class: `share ${name}` }, `${share}%`);
          cell.style.setProperty("--share", `${share}%`);
          return cell;
        }));
    };
    const head = make("tr", {}, ...["Method", `Page recall@${data.k}`, ...names.map((name) => STATUS[name][2])].map((text) => make("th", { scope: "col" }, text)));
    const part = (label, methods) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      make("table", {}, make("thead", {}, head.cloneNode(true)), make("tbody", {}, ...methods.map(row))));
    const methods = bestFirst(shown), others = methods.filter((method) => !method.isMain);
    const isOpen = Boolean(summary.querySelector("details")?.open);
    summary.replaceChildren(make("summary", {}, `What each method finds of ${shown.length === 1 ? "this question" : `these ${shown.length} questions`} (${SAID[state.condition]})`),
      part("Share found by method", methods.filter((method) => method.isMain)),
      others.length ? make("details", { open: isOpen }, make("summary", {}, `${others.length} more methods`), part("Share found by the other methods", others)) : "");
    summary.hidden = !shown.length;
  }

  function pages(question) {
    return question.gold.map((page) => `p. ${page}`).join(", ");
  }

  function rankCell(question, method, condition) {
    const ranks = ranksOf(question, method, condition);
    if (!ranks) return make("td", { class: "rank" }, "–");
    const last = data.depths[condition][placeOf.get(method)];
    const text = ranks.map((rank) => rank || `> ${last}`).join(", "), name = outcome(question, method, condition);
    return make("td", { class: "rank" }, `${text} `, make("span", { class: `sign ${name}`, "aria-hidden": "true" }, STATUS[name][0]),
      make("span", { class: "spoken" }, STATUS[name][2]));
  }

  function rankRows(question, methods) {
    const head = make("tr", {}, make("th", { scope: "col" }, "Method"), ...data.conditions.map((condition) => make("th", { scope: "col" }, SAID[condition] || condition)));
    const rows = methods.map((method) => make("tr", { class: method.name === state.method ? "is-chosen" : null },
      make("th", { scope: "row" }, method.title), ...data.conditions.map((condition) => rankCell(question, method.name, condition))));
    return [make("thead", {}, head), make("tbody", {}, ...rows)];
  }

  function rankTable(question) {
    const first = [state.method, state.other].filter((name) => placeOf.has(name));
    const main = data.methods.filter((method) => method.isMain && !first.includes(method.name));
    const others = data.methods.filter((method) => !method.isMain && !first.includes(method.name));
    const caption = `Rank of the first chunk of each gold page (${pages(question)}); ■ all among the first ${data.k}; "> n" not among the first n, which were kept`;
    const scroll = (label, ...children) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, make("table", {}, ...children));
    const parts = [scroll("Ranks by method and condition", make("caption", {}, caption),
      ...rankRows(question, [...first.map((name) => data.methods[placeOf.get(name)]), ...main]))];
    if (others.length) parts.push(make("details", {}, make("summary", {}, `${others.length} more methods`), scroll("Ranks of the other methods", ...rankRows(question, others))));
    return make("div", {}, ...parts);
  }

  function placesOf(question, method) {
    const flat = question.top[placeOf.get(method)] || [], places = [];
    for (let at = 0; at < flat.length; at += 2) places.push([data.docs[flat[at]], flat[at + 1]]);
    return places;
  }

  // What is known of a page: gold, or the label of the readers who judged it for the pooled gold.
  function labelOf(question, doc, page) {
    if (doc === question.doc && question.gold.includes(page)) return "gold page";
    const judged = question.pooled.find((one) => data.docs[one[0]] === doc && one[1] === page);
    return judged ? LABELS[judged[2]] : null;
  }

  function pooled(question) {
    const parts = ["full", "part"].map((label) => [label, question.pooled.filter((one) => one[2] === label && labelOf(question, data.docs[one[0]], one[1]) !== "gold page")]);
    if (!question.pooled.length) return null;
    const said = parts.map(([label, some]) => `${LABELS[label]}: ${some.map((one) => pageName(data.docs[one[0]], one[1])).join(", ") || "none"}`);
    return make("p", { class: "pooled" }, `Readers judged ${question.pooled.length} pages that methods found. Beside the gold pages, ${said.join("; ")}.`);
  }

  // Why: at which step the chosen method lost the evidence, and the kind of failure where it was sorted.
  function diagnosis(question) {
    const places = placesOf(question, state.method), result = outcome(question, state.method, STANDARD);
    if (!places.length) return null;
    const inFiling = places.filter(([doc]) => doc === question.doc).length;
    const where = inFiling ? `the right filing has ${inFiling} of the first ${places.length} chunks` : "the right filing is not among the first chunks";
    const kinds = [...new Set(question.kinds[state.method] || [])].map((kind) => `${kind} (${data.kinds[kind]})`).join("; ");
    const given = outcome(question, state.method, "oracle-document");
    const more = result === "hit" || given === "none" ? "" : ` With the filing given: ${STATUS[given][2]}.`;
    const list = make("ol", { class: "places" }, ...places.map(([doc, page]) => {
      const isFiling = doc === question.doc, label = labelOf(question, doc, page);
      const said = label === "gold page" ? label : `${isFiling ? "right filing, other page" : "other filing"}${label ? `; judged: ${label}` : ""}`;
      return make("li", { class: label === "gold page" ? "is-gold" : isFiling ? "is-filing" : "is-other" }, `${pageName(doc, page)} `, make("span", { class: "said" }, said));
    }));
    return make("div", {}, make("h3", {}, `Why: ${titleOf(state.method)}`),
      make("p", {}, `${STATUS[result][2].replace(/^./, (letter) => letter.toUpperCase())}; ${where}.${kinds ? ` Kind of failure: ${kinds}.` : ""}${more}`), list, pooled(question) || "");
  }

  function topTable(question) {
    const rows = data.methods.filter((method) => question.top[placeOf.get(method.name)]).map((method) => make("tr", {},
      make("th", { scope: "row" }, method.title),
      make("td", {}, placesOf(question, method.name).map(([doc, page]) => {
        const label = labelOf(question, doc, page);
        return `${pageName(doc, page)}${label ? ` (${label})` : ""}`;
      }).join(" · "))));
    if (!rows.length) return null;
    const head = make("tr", {}, make("th", { scope: "col" }, "Method"), make("th", { scope: "col" }, "Pages of the first chunks, best first"));
    return make("details", {}, make("summary", {}, "What each method retrieved first (all filings)"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pages retrieved first" },
        make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))));
  }

  function written(question) {
    if (!question.written.length) return null;
    const byRules = question.written.filter((item) => item.model === RULES), others = question.written.filter((item) => item.model !== RULES);
    const fold = (title, items) => (items.length ? make("details", {}, make("summary", {}, title), ...items.map((item) => make("div", {},
      make("h4", {}, `${item.kind} (${item.model})`), make("p", { class: "written" }, item.text)))) : "");
    return make("div", {}, fold(`Answers by calculation (${byRules.length})`, byRules),
      fold(`What language models wrote (${others.length}, the shortest first)`, others));
  }

  function pictures(question) {
    if (!question.pictures.length) return null;
    const firstOf = (picture) => data.methods.filter((method) => {
      const [place] = placesOf(question, method.name);
      return place && place[0] === picture.doc && place[1] === picture.page;
    }).map((method) => method.name);
    const parts = question.pictures.map((picture) => {
      const names = firstOf(picture), isMine = names.includes(state.method);
      const what = `${picture.isGold ? "Gold page" : `First page of ${isMine ? titleOf(state.method) : names.slice(0, 2).map(titleOf).join(", ") || "another method"}`}: ${picture.doc}, p. ${picture.page}`;
      return [picture.isGold || isMine ? 0 : 1, make("figure", {}, make("img", { src: `../_static/explorer/${encodeURIComponent(picture.file)}`, alt: what, loading: "lazy" }), make("figcaption", {}, what))];
    });
    parts.sort((a, b) => a[0] - b[0]);
    return make("div", {}, make("h3", {}, "Pages"), make("div", { class: "pictures" }, ...parts.map(([, part]) => part)));
  }

  // The reader's own copy of the questions, a JSON object per line: read here, sent nowhere.
  async function takeQuestions(event) {
    const known = new Map(data.questions.map((question) => [question.id, question]));
    let n = 0;
    for (const line of (await event.target.files[0].text()).split("\n")) {
      let given = null;
      try { given = JSON.parse(line); } catch { continue; }
      const question = given && known.get(given.financebench_id || given.question_id);
      if (question) { question.text = String(given.question || ""); question.answer = String(given.answer || ""); n += 1; }
    }
    loaded.textContent = n ? `${n} questions were read; they stay in this browser.` : "No question of this book is in that file.";
    refresh();
    show(current(), false);
  }
  const loaded = make("span", { role: "status" });
  const own = data.questions.some((question) => question.text) ? null : make("p", { class: "own" },
    make("label", { for: "explorer-file" }, "To see the questions' text, open your copy of financebench_open_source.jsonl; nothing leaves your browser: "),
    make("input", { id: "explorer-file", type: "file", accept: ".jsonl,.json", onchange: takeQuestions }), loaded);

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

  // What was retrieved, written and drawn of a question is in a file of its own, which is loaded when it is chosen.
  function load(question) {
    const take = (part) => {
      Object.assign(question, { top: [], pooled: [], written: [], pictures: [] }, part);
      if (question === current()) show(question, detail.contains(document.activeElement));
    };
    document.head.append(make("script", {
      src: `../_static/explorer/question-${data.questions.indexOf(question)}.js`,
      onload: () => take(window.EXPLORER_PART), onerror: () => take({}),
    }));
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
    const later = (part) => (question.top ? part(question) : null);
    detail.replaceChildren(...[heading, steps, facts, later(diagnosis), make("h3", {}, "Ranks"),
      rankTable(question), later(topTable), later(pictures), later(written)].filter(Boolean));
    if (!question.top) load(question);
    if (focus) { heading.focus({ preventScroll: true }); heading.scrollIntoView(); }
  }

  window.addEventListener("hashchange", () => { takeAddress(); refresh(); show(current(), true); });
  root.replaceChildren(...[own, filters, count, summary, legend, list, detail].filter(Boolean));
  takeAddress();
  refresh();
  show(current(), Boolean(current()));
})();
