// The question explorer: reads window.EXPLORER (explorer/data.js), shows every text as text, keeps its state in the hash.
"use strict";
(() => {
  const root = document.getElementById("explorer"), data = window.EXPLORER;
  if (!root || !data) return;
  const [STANDARD] = data.conditions;
  const DEFAULTS = { words: "", type: "", method: data.best, condition: STANDARD, outcome: "", kind: "", other: "" };
  const SEARCHED = { standard: "all filings", "oracle-document": "filing given", "oracle-page": "pages given" };
  // What became of a question: its mark, its word in the list, and its words in the legend.
  const STATUS = {
    hit: ["■", "found", "found, every gold page"], part: ["◧", "partly", "some gold pages found"],
    page: ["□", "wrong page", "right filing, wrong page"], filing: ["×", "wrong filing", "wrong filing"], none: ["·", "no run", "no run"],
  };
  const OUTCOMES = ["hit", "part", "page", "filing"];
  const LABELS = { full: "answers in full", part: "answers in part", no: "does not answer" };
  const placeOf = new Map(data.methods.map((method, place) => [method.name, place]));
  const titleOf = (name) => data.methods[placeOf.get(name)].title;
  let state = { ...DEFAULTS }, shown = data.questions;

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

  const mark = (name) => make("span", { class: `sign ${name}`, "aria-hidden": "true" }, STATUS[name][0]);
  const fold = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);
  const table = (label, heads, rows, caption = null) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    make("table", {}, caption && make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows)));
  const methodRow = (method, ...cells) => make("tr", { class: method.name === state.method ? "is-chosen" : null }, make("th", { scope: "row" }, cells[0]), ...cells.slice(1));
  const counted = (names) => OUTCOMES.concat("none").map((one) => [one, names.filter((name) => name === one).length]);

  // --- what a method did with a question ---

  const ranksOf = (question, method, condition) => (question.ranks[condition] || [])[placeOf.get(method)];
  const isHit = (rank) => rank > 0 && rank <= data.k;

  // A key of STATUS; the filing is right where one of the first k chunks is from it, or where it was given.
  function outcome(question, method = state.method, condition = state.condition) {
    const ranks = ranksOf(question, method, condition);
    if (!ranks) return "none";
    const found = ranks.filter(isHit).length;
    if (found) return found === ranks.length ? "hit" : "part";
    return condition !== STANDARD || question.filing[placeOf.get(method)] === "1" ? "page" : "filing";
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

  // --- filters, whose values the address has: it can be copied and sent ---

  function matches(question) {
    const text = `${question.id} ${question.text || ""} ${question.doc} ${question.company} ${question.type}`.toLowerCase();
    const own = outcome(question), other = state.other ? outcome(question, state.other) : "none";
    const isOutcome = {
      "": true, miss: own === "page" || own === "filing",
      won: own === "hit" && !["hit", "none"].includes(other), lost: other === "hit" && !["hit", "none"].includes(own),
    }[state.outcome] ?? own === state.outcome;
    return isOutcome && (!state.type || question.type === state.type)
      && (!state.kind || (question.kinds[state.method] || []).includes(state.kind))
      && state.words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  function select(label, field, options, first) {
    const box = make("select", { id: `explorer-${field}`, onchange: change }, first === undefined ? null : make("option", { value: "" }, first),
      ...options.map(([value, text]) => make("option", { value }, text)));
    return make("label", { for: box.id }, label, box);
  }

  const pairs = (values) => values.map((value) => [value, value]);
  const methods = data.methods.map((method) => [method.name, method.title]);
  const search = make("input", { id: "explorer-words", type: "search", autocomplete: "off", oninput: change });
  const filters = make("form", { class: "filters", role: "search", "aria-label": "Filter the questions", onsubmit: (event) => event.preventDefault() },
    make("label", { for: search.id }, "Words, filing, id", search),
    select("Question type", "type", pairs([...new Set(data.questions.map((question) => question.type))].sort()), "all types"),
    select("Method", "method", methods),
    select("Condition", "condition", data.conditions.map((name) => [name, SEARCHED[name]])),
    select("Outcome", "outcome", [...OUTCOMES.map((name) => [name, STATUS[name][2]]), ["miss", "no gold page found"],
      ["won", "found, but not by the other method"], ["lost", "not found, but by the other method"]], "all outcomes"),
    select("Kind of failure", "kind", pairs(Object.keys(data.kinds)), "all kinds"),
    select("Other method", "other", methods, "none"));
  const boxOf = (name) => filters.querySelector(`#explorer-${name}`);

  function linkOf(question, changed = {}) {
    const wanted = { ...state, ...changed }, parts = question ? [["q", question.id]] : [];
    parts.push(...Object.entries(wanted).filter(([name, value]) => value !== DEFAULTS[name]));
    return `#${parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
  }

  function fromAddress() {
    try {
      return Object.fromEntries(location.hash.slice(1).split("&").map((part) => part.split("=").map(decodeURIComponent)));
    } catch { // no address of this page
      return {};
    }
  }

  const current = () => data.questions.find((question) => question.id === fromAddress().q) || null;

  function takeAddress() {
    const given = fromAddress();
    for (const name of Object.keys(DEFAULTS)) {
      boxOf(name).value = given[name] ?? DEFAULTS[name];
      if (boxOf(name).selectedIndex === -1) boxOf(name).value = DEFAULTS[name]; // no option of the box
    }
    state = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, boxOf(name).value]));
  }

  function change() {
    const question = current();
    state = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, boxOf(name).value]));
    history.replaceState(null, "", linkOf(question));
    refresh();
  }

  // --- the list of questions, and what each method finds of them ---

  const count = make("p", { class: "count", role: "status", "aria-live": "polite" });
  const summary = make("details", { class: "summary", open: true });
  const legend = make("p", { class: "legend" }, "One mark per method, the best over all questions first, the chosen one underlined:",
    ...OUTCOMES.flatMap((name) => [" ", mark(name), ` ${STATUS[name][2]}${name === "filing" ? "." : ","}`]));
  const list = make("ul", { class: "questions", role: "list", "aria-label": "Questions" });
  const detail = make("section", { class: "detail", "aria-label": "The chosen question", hidden: true });

  function refresh(isFocused = false) {
    const chosen = current(), isFiltered = Object.keys(DEFAULTS).some((name) => state[name] !== DEFAULTS[name]);
    shown = data.questions.filter(matches);
    const hits = shown.filter((question) => outcome(question) === "hit").length;
    const found = state.outcome ? "" : `; ${titleOf(state.method)} finds every gold page of ${hits} (${SEARCHED[state.condition]}, first ${data.k} chunks)`;
    const classified = data.methods.filter((method) => data.questions.some((question) => question.kinds[method.name]));
    const isClassified = classified.some((method) => method.name === state.method);
    const kind = !state.kind ? "" : isClassified ? ` ${state.kind}: ${data.kinds[state.kind]}.`
      : ` Kinds of failure are known of ${classified.map((method) => method.title).join(" and ")} only.`;
    count.replaceChildren(`${shown.length} of ${data.questions.length} questions${found}.${kind} `, isFiltered ? make("a", { href: "#" }, "Clear the filters") : "");
    const columns = bestFirst(data.questions).filter((method) => method.isMain || [state.method, state.other].includes(method.name));
    list.replaceChildren(...shown.map((question) => make("li", {},
      make("a", { href: linkOf(question), "aria-current": question === chosen ? "true" : null },
        make("span", { class: "outcome" }, mark(outcome(question)), ` ${STATUS[outcome(question)][1]}`),
        make("span", { class: "title" }, question.text || question.id,
          make("span", { class: "where" }, `${question.company} · ${question.doc} · ${question.type}`), strip(question, columns))))));
    showSummary();
    show(chosen, isFocused);
  }

  function strip(question, columns) {
    const names = columns.map((method) => outcome(question, method.name));
    const said = counted(names).filter(([, n]) => n).map(([name, n]) => `${n} ${STATUS[name][1]}`).join(", ");
    return make("span", { class: "strip", role: "img", "aria-label": `Of ${names.length} methods: ${said}` }, ...columns.map((method, place) => make("span",
      { class: `sign ${names[place]}${method.name === state.method ? " is-chosen" : ""}`, title: `${method.title}: ${STATUS[names[place]][2]}` }, STATUS[names[place]][0])));
  }

  // By method: page recall over the questions that are listed, and the share of them with each outcome.
  function showSummary() {
    const heads = ["Method", `Page recall@${data.k}`, ...OUTCOMES.map((name) => STATUS[name][2])];
    const rows = (some) => some.map((method) => {
      const counts = counted(shown.map((question) => outcome(question, method.name))), n = shown.length - counts.at(-1)[1];
      const shares = counts.slice(0, -1).map(([name, count]) => [name, `${Math.round(100 * count / n)}%`]);
      return methodRow(method, make("a", { href: linkOf(current(), { method: method.name }) }, method.title), make("td", {}, recallOf(method.name, shown).toFixed(2)),
        ...shares.map(([name, share]) => {
          const cell = make("td", { class: `share ${name}` }, share);
          cell.style.setProperty("--share", share);
          return cell;
        }));
    });
    const best = bestFirst(shown), others = best.filter((method) => !method.isMain), wasOpen = summary.querySelector("details")?.open;
    const more = others.length ? fold(`${others.length} more methods`, table("Share found by the other methods", heads, rows(others))) : "";
    if (more) more.open = Boolean(wasOpen);
    summary.replaceChildren(make("summary", {}, `What each method finds of ${shown.length === 1 ? "this question" : `these ${shown.length} questions`} (${SEARCHED[state.condition]})`),
      table("Share found by method", heads, rows(best.filter((method) => method.isMain))), more);
    summary.hidden = !shown.length;
  }

  // --- the question that is chosen ---

  const nameOf = ([doc, page]) => (page < 0 ? `${doc}, no page` : `${doc} p. ${page}`);
  const goldOf = (question) => question.gold.map((page) => `p. ${page}`).join(", ");
  const isGold = (question, [doc, page]) => doc === question.doc && question.gold.includes(page);

  function placesOf(question, method) {
    const flat = question.top[placeOf.get(method)] || [], places = [];
    for (let at = 0; at < flat.length; at += 2) places.push([data.docs[flat[at]], flat[at + 1]]);
    return places;
  }

  // What is known of a page: gold, or the label of the readers who judged it for the pooled gold.
  function labelOf(question, place) {
    const judged = question.pooled.find(([doc, page]) => data.docs[doc] === place[0] && page === place[1]);
    return isGold(question, place) ? "gold page" : judged ? LABELS[judged[2]] : "";
  }

  function judgedPages(question) {
    const pages = question.pooled.map(([doc, page, label]) => [[data.docs[doc], page], label]).filter(([place]) => !isGold(question, place));
    const said = ["full", "part"].map((label) => `${LABELS[label]}: ${pages.filter(([, one]) => one === label).map(([place]) => nameOf(place)).join(", ") || "none"}`);
    return question.pooled.length ? make("p", { class: "pooled" }, `Readers judged ${question.pooled.length} pages that methods found. Beside the gold pages, ${said.join("; ")}.`) : null;
  }

  // Why: at which step the chosen method lost the evidence, and the kind of failure where it was sorted.
  function diagnosis(question) {
    const places = placesOf(question, state.method), result = outcome(question, state.method, STANDARD);
    if (!places.length) return null;
    const inFiling = places.filter(([doc]) => doc === question.doc).length;
    const where = inFiling ? `the right filing has ${inFiling} of the first ${places.length} chunks` : "the right filing is not among the first chunks";
    const kinds = [...new Set(question.kinds[state.method] || [])].map((kind) => `${kind} (${data.kinds[kind]})`).join("; ");
    const given = outcome(question, state.method, "oracle-document"), said = STATUS[result][2];
    const text = `${said[0].toUpperCase()}${said.slice(1)}; ${where}.${kinds && ` Kind of failure: ${kinds}.`}`
      + (result === "hit" || given === "none" ? "" : ` With the filing given: ${STATUS[given][2]}.`);
    return make("div", {}, make("h3", {}, `Why: ${titleOf(state.method)}`), make("p", {}, text), make("ol", { class: "places" }, ...places.map((place) => {
      const isFiling = place[0] === question.doc, label = labelOf(question, place);
      const words = label === "gold page" ? label : `${isFiling ? "right filing, other page" : "other filing"}${label && `; judged: ${label}`}`;
      return make("li", { class: label === "gold page" ? "is-gold" : isFiling ? "is-filing" : null }, `${nameOf(place)} `, make("span", { class: "said" }, words));
    })), judgedPages(question));
  }

  function rankTables(question) {
    const heads = ["Method", ...data.conditions.map((condition) => SEARCHED[condition])];
    const rows = (some) => some.map((method) => methodRow(method, method.title, ...data.conditions.map((condition) => {
      const ranks = ranksOf(question, method.name, condition), name = outcome(question, method.name, condition);
      if (!ranks) return make("td", { class: "rank" }, "–");
      const text = ranks.map((rank) => rank || `> ${data.depths[condition][placeOf.get(method.name)]}`).join(", ");
      return make("td", { class: "rank" }, `${text} `, mark(name), make("span", { class: "spoken" }, STATUS[name][2]));
    })));
    const caption = `Rank of the first chunk of each gold page (${goldOf(question)}); ■ all among the first ${data.k}; "> n" not among the first n, which were kept`;
    const names = [state.method, state.other, ...data.methods.filter((method) => method.isMain).map((method) => method.name)];
    const first = [...new Set(names)].filter(Boolean).map((name) => data.methods[placeOf.get(name)]);
    const others = data.methods.filter((method) => !first.includes(method));
    return make("div", {}, make("h3", {}, "Ranks"), table("Ranks by method and condition", heads, rows(first), caption),
      others.length ? fold(`${others.length} more methods`, table("Ranks of the other methods", heads, rows(others))) : null);
  }

  function retrieved(question) {
    const rows = data.methods.filter((method) => question.top[placeOf.get(method.name)]).map((method) => methodRow(method, method.title,
      make("td", {}, placesOf(question, method.name).map((place) => `${nameOf(place)}${labelOf(question, place) && ` (${labelOf(question, place)})`}`).join(" · "))));
    return rows.length ? fold("What each method retrieved first (all filings)",
      table("Pages retrieved first", ["Method", "Pages of the first chunks, best first"], rows)) : null;
  }

  function pictures(question) {
    const figures = question.pictures.map((picture) => {
      const names = data.methods.map((method) => method.name).filter((name) => String(placesOf(question, name)[0]) === String([picture.doc, picture.page]));
      const isMine = names.includes(state.method), of = isMine ? [state.method] : names.slice(0, 2);
      const what = `${picture.isGold ? "Gold page" : `First page of ${of.map(titleOf).join(", ") || "another method"}`}: ${picture.doc}, p. ${picture.page}`;
      const image = make("img", { src: `../_static/explorer/${encodeURIComponent(picture.file)}`, alt: what, loading: "lazy" });
      return [picture.isGold || isMine, make("figure", {}, image, make("figcaption", {}, what))];
    });
    const [first, rest] = [true, false].map((wanted) => figures.filter(([isFirst]) => isFirst === wanted).map(([, figure]) => figure));
    return figures.length ? make("div", {}, make("h3", {}, "Pages"), make("div", { class: "pictures" }, ...first, ...rest)) : null;
  }

  function written(question) {
    const [rules, models] = [true, false].map((isRule) => question.written.filter((item) => (item.model === "rules") === isRule));
    const texts = (items) => items.map((item) => make("div", {}, make("h4", {}, `${item.kind} (${item.model})`), make("p", { class: "written" }, item.text)));
    return make("div", {}, rules.length ? fold(`Answers by calculation (${rules.length})`, ...texts(rules)) : null,
      models.length ? fold(`What language models wrote (${models.length}, the shortest first)`, ...texts(models)) : null);
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

  function show(question, isFocused) {
    detail.hidden = !question;
    if (!question) return;
    const place = shown.indexOf(question), previous = shown[place - 1], next = shown[place + 1]; // the first, where it is not listed
    const button = (text, onclick, disabled = false) => make("button", { type: "button", onclick, disabled }, text);
    const go = (other) => () => { location.hash = linkOf(other); };
    const steps = make("div", { class: "steps" }, button("← Previous", go(previous), !previous), button("Next →", go(next), !next),
      button("Back to the filters", () => { filters.scrollIntoView(); search.focus(); }));
    const facts = { Id: question.id, Answer: question.answer, Type: question.type, Company: question.company,
      Filing: `${question.doc} (${question.docType})`, "Gold pages": goldOf(question) };
    const heading = make("h2", { tabindex: "-1" }, question.text || question.id), isLoaded = Boolean(question.top);
    const parts = [heading, steps,
      make("dl", { class: "facts" }, ...Object.entries(facts).flatMap(([name, value]) => (value ? [make("dt", {}, name), make("dd", {}, value)] : []))),
      isLoaded && diagnosis(question), rankTables(question), ...(isLoaded ? [retrieved, pictures, written] : []).map((part) => part(question))];
    detail.replaceChildren(...parts.filter(Boolean));
    if (!isLoaded) load(question);
    if (isFocused) { heading.focus({ preventScroll: true }); heading.scrollIntoView(); }
  }

  // The reader's own copy of the questions, a JSON object per line: read here, sent nowhere.
  async function takeQuestions(event) {
    const byId = new Map(data.questions.map((question) => [question.id, question]));
    let n = 0;
    for (const line of (await event.target.files[0].text()).split("\n")) {
      let given = null;
      try { given = JSON.parse(line); } catch { continue; }
      const question = given && byId.get(given.financebench_id || given.question_id);
      if (question) { question.text = String(given.question || ""); question.answer = String(given.answer || ""); n += 1; }
    }
    event.target.nextSibling.textContent = n ? `${n} questions were read; they stay in this browser.` : "No question of this book is in that file.";
    refresh();
  }

  const own = data.questions.some((question) => question.text) ? null : make("p", { class: "own" },
    make("label", { for: "explorer-file" }, "To see the questions' text, open your copy of financebench_open_source.jsonl; nothing leaves your browser: "),
    make("input", { id: "explorer-file", type: "file", accept: ".jsonl,.json", onchange: takeQuestions }), make("span", { role: "status" }));
  root.replaceChildren(...[own, filters, count, summary, legend, list, detail].filter(Boolean));
  window.addEventListener("hashchange", () => { takeAddress(); refresh(true); });
  takeAddress();
  refresh(Boolean(current()));
})();
