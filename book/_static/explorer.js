// The question explorer: reads window.EXPLORER (explorer/data.js) and shows every text as text.
// The address names the filters and, as q, the question that is chosen.
"use strict";
(() => {
  const root = document.getElementById("explorer"), data = window.EXPLORER;
  if (!root || !data) return;
  const [STANDARD] = data.conditions;
  const SEARCHED = { standard: "all filings", "oracle-document": "filing given", "oracle-page": "pages given" };
  // What became of a question: its mark, its word in the list, and its words in the legend.
  const STATUS = {
    hit: ["■", "found", "found, every gold page"], part: ["◧", "partly", "some gold pages found"],
    page: ["□", "wrong page", "right filing, wrong page"], filing: ["×", "wrong filing", "wrong filing"],
    none: ["·", "no run", "no run"],
  };
  const OUTCOMES = ["hit", "part", "page", "filing"];
  const LABELS = { full: "answers in full", part: "answers in part", no: "does not answer" };
  const placeOf = new Map(data.methods.map((method, place) => [method.name, place]));
  const titleOf = (name) => data.methods[placeOf.get(name)].title;

  // An element with attributes and children; children are elements or plain text, never markup.
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  const mark = (name) => make("span", { class: `sign ${name}`, "aria-hidden": "true" }, STATUS[name][0]);
  const fold = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);

  // --- filters ---

  function select(label, name, options, chosen) {
    const box = make("select", { name, id: `explorer-${name}` },
      ...options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
    return make("label", { for: box.id }, label, box);
  }

  const same = (values) => values.map((value) => [value, value]);
  const methods = data.methods.map((method) => [method.name, method.title]);
  const types = [...new Set(data.questions.map((question) => question.type))].sort();
  const classified = data.methods.filter((method) => data.questions.some((question) => question.kinds[method.name]));
  const form = make("form", {
    class: "filters", role: "search", "aria-label": "Filter the questions",
    onsubmit: (event) => event.preventDefault(),
    oninput: () => { history.replaceState(null, "", linkTo({})); refresh(); },
  },
  make("label", { for: "explorer-words" }, "Words, filing, id",
    make("input", { name: "words", id: "explorer-words", type: "search", autocomplete: "off" })),
  select("Question type", "type", [["", "all types"], ...same(types)]),
  select("Method", "method", methods, data.best),
  select("Condition", "condition", data.conditions.map((name) => [name, SEARCHED[name]])),
  select("Outcome", "outcome", [["", "all outcomes"], ...OUTCOMES.map((name) => [name, STATUS[name][2]]),
    ["miss", "no gold page found"], ["won", "found, but not by the other method"],
    ["lost", "not found, but by the other method"]]),
  select("Kind of failure", "kind", [["", `all kinds, known of ${classified.map((method) => method.title).join(", ") || "no method"}`],
    ...same(Object.keys(data.kinds))]),
  select("Other method", "other", [["", "none"], ...methods]));
  const chosen = (name) => form.elements[name].value;

  const address = () => new URLSearchParams(location.hash.slice(1));
  const current = () => data.questions.find((question) => question.id === address().get("q"));
  // The address of these filters and of the question that is chosen, with what is changed of them.
  const linkTo = (changed) => `#${new URLSearchParams({
    q: address().get("q") || "", ...Object.fromEntries(new FormData(form)), ...changed,
  })}`;

  function takeAddress() {
    form.reset();
    for (const [name, value] of address()) {
      const box = form.elements.namedItem(name);
      if (box && (box.type === "search" || [...box.options].some((option) => option.value === value))) box.value = value;
    }
  }

  // --- what a method did with a question ---

  const ranksOf = (question, method, condition) => (question.ranks[condition] || [])[placeOf.get(method)];
  const named = ([doc, page]) => [data.docs[doc], page]; // a place whose filing is a number
  const placesOf = (question, method) => (question.top[placeOf.get(method)] || []).map(named);
  const isHit = (rank) => rank > 0 && rank <= data.k;

  // A key of STATUS; the filing is right where one of the first k chunks is from it, or where it was given.
  function outcome(question, method = chosen("method"), condition = chosen("condition")) {
    const ranks = ranksOf(question, method, condition);
    if (!ranks) return "none";
    const found = ranks.filter(isHit).length;
    if (found) return found === ranks.length ? "hit" : "part";
    const isInFiling = condition !== STANDARD || placesOf(question, method).some(([doc]) => doc === question.doc);
    return isInFiling ? "page" : "filing";
  }

  // Page recall over questions under the chosen condition: the mean share of gold pages among the first k chunks.
  function recallOf(method, questions) {
    const ranks = questions.map((question) => ranksOf(question, method, chosen("condition"))).filter(Boolean);
    return ranks.length ? ranks.reduce((sum, one) => sum + one.filter(isHit).length / one.length, 0) / ranks.length : -1;
  }

  function bestFirst(questions) {
    const recalls = new Map(data.methods.map((method) => [method, recallOf(method.name, questions)]));
    return data.methods.filter((method) => recalls.get(method) >= 0).sort((a, b) => recalls.get(b) - recalls.get(a));
  }

  const isFirst = (method) => method.isMain || [chosen("method"), chosen("other")].includes(method.name);

  // A row for each method, those of the study itself and the chosen ones first, the others folded below.
  function byMethod(label, heads, some, cellsOf, caption = null) {
    const row = (method) => make("tr", { class: method.name === chosen("method") ? "is-chosen" : null },
      make("th", { scope: "row" }, make("a", { href: linkTo({ method: method.name }) }, method.title)), ...cellsOf(method));
    const table = (name, rows) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
      make("table", {}, caption && make("caption", {}, caption),
        make("thead", {}, make("tr", {}, ...["Method", ...heads].map((head) => make("th", { scope: "col" }, head[0].toUpperCase() + head.slice(1))))),
        make("tbody", {}, ...rows.map(row))));
    const others = some.filter((method) => !isFirst(method));
    return make("div", {}, table(label, some.filter(isFirst)),
      others.length ? fold(`${others.length} more methods`, table(`${label}, the other methods`, others)) : null);
  }

  // --- the list of questions, and what each method finds of them ---

  const count = make("p", { class: "count", role: "status", "aria-live": "polite" });
  const summary = make("details", { class: "summary", open: true });
  const legend = make("p", { class: "legend" }, "One mark per method, the best over all questions first, the chosen one underlined:",
    ...OUTCOMES.flatMap((name) => [" ", mark(name), ` ${STATUS[name][2]}${name === "filing" ? "." : ","}`]));
  const list = make("ul", { class: "questions", role: "list", "aria-label": "Questions" });
  const detail = make("section", { class: "detail", "aria-label": "The chosen question", hidden: true });

  function matches(question) {
    const text = `${question.id} ${question.text || ""} ${question.doc} ${question.company} ${question.type}`.toLowerCase();
    const own = outcome(question), other = chosen("other") ? outcome(question, chosen("other")) : "none";
    const isOutcome = {
      "": true, miss: own === "page" || own === "filing",
      won: own === "hit" && !["hit", "none"].includes(other), lost: other === "hit" && !["hit", "none"].includes(own),
    }[chosen("outcome")] ?? own === chosen("outcome");
    return isOutcome && (!chosen("type") || question.type === chosen("type"))
      && (!chosen("kind") || (question.kinds[chosen("method")] || []).includes(chosen("kind")))
      && chosen("words").toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  function refresh() {
    const shown = data.questions.filter(matches), columns = bestFirst(data.questions).filter(isFirst);
    const hits = shown.filter((question) => outcome(question) === "hit").length;
    count.replaceChildren(`${shown.length} of ${data.questions.length} questions; ${titleOf(chosen("method"))} finds every gold page `
      + `of ${hits} (${SEARCHED[chosen("condition")]}, first ${data.k} chunks). `, make("a", { href: "#" }, "Clear the filters"));
    list.replaceChildren(...shown.map((question) => make("li", {},
      make("a", { href: linkTo({ q: question.id }), "aria-current": question === current() ? "true" : null },
        make("span", { class: "outcome" }, mark(outcome(question)), ` ${STATUS[outcome(question)][1]}`),
        make("span", { class: "title" }, question.text || question.id,
          make("span", { class: "where" }, `${question.company} · ${question.doc} · ${question.type}`), strip(question, columns))))));
    // page recall over the questions that are listed, and the share of them with each outcome
    summary.replaceChildren(
      make("summary", {}, `What each method finds of the questions below (${SEARCHED[chosen("condition")]})`),
      byMethod("Share found by method", [`Page recall@${data.k}`, ...OUTCOMES.map((name) => STATUS[name][2])], bestFirst(shown), (method) => {
        const names = shown.map((question) => outcome(question, method.name)).filter((name) => name !== "none");
        const shares = OUTCOMES.map((name) => `${Math.round(100 * names.filter((one) => one === name).length / names.length)}%`);
        return [recallOf(method.name, shown).toFixed(2), ...shares].map((text) => make("td", {}, text));
      }));
    show(current());
  }

  function strip(question, columns) {
    const names = columns.map((method) => outcome(question, method.name));
    const counts = Object.keys(STATUS).map((name) => [names.filter((one) => one === name).length, STATUS[name][1]]);
    const label = counts.filter(([n]) => n).map(([n, word]) => `${n} ${word}`).join(", ");
    return make("span", { class: "strip", role: "img", "aria-label": `Of ${names.length} methods: ${label}` }, ...columns.map((method, place) => {
      const sign = mark(names[place]);
      sign.classList.toggle("is-chosen", method.name === chosen("method"));
      sign.title = `${method.title}: ${STATUS[names[place]][2]}`;
      return sign;
    }));
  }

  // --- the question that is chosen ---

  const nameOf = ([doc, page]) => (page < 0 ? `${doc}, no page` : `${doc} p. ${page}`);
  const goldOf = (question) => question.gold.map((page) => `p. ${page}`).join(", ");
  const isGold = (question, [doc, page]) => doc === question.doc && question.gold.includes(page);

  // What is known of a page: gold, or the label of the readers who judged it for the pooled gold.
  function labelOf(question, place) {
    const judged = question.pooled.find(([page]) => String(named(page)) === String(place));
    return isGold(question, place) ? "gold page" : judged ? LABELS[judged[1]] : "";
  }

  function judgedPages(question) {
    if (!question.pooled.length) return null;
    const others = question.pooled.map(([page, label]) => [named(page), label]).filter(([place]) => !isGold(question, place));
    const pages = (label) => others.filter(([, one]) => one === label).map(([place]) => nameOf(place)).join(", ") || "none";
    return make("p", { class: "pooled" }, `Readers judged ${question.pooled.length} pages that methods found. Beside the gold pages, `
      + `${LABELS.full}: ${pages("full")}; ${LABELS.part}: ${pages("part")}.`);
  }

  // Why: at which step the chosen method lost the evidence, and the kind of failure where it was sorted.
  function diagnosis(question) {
    const method = chosen("method"), places = placesOf(question, method);
    if (!places.length) return null;
    const inFiling = places.filter(([doc]) => doc === question.doc).length;
    const where = inFiling ? `the right filing has ${inFiling} of the first ${places.length} chunks` : "the right filing is not among the first chunks";
    const [words, given] = [STANDARD, "oracle-document"].map((condition) => STATUS[outcome(question, method, condition)][2]);
    const kinds = [...new Set(question.kinds[method] || [])].map((kind) => `${kind} (${data.kinds[kind]})`).join("; ");
    return make("div", {}, make("h3", {}, `Why: ${titleOf(method)}`),
      make("p", {}, `${words[0].toUpperCase()}${words.slice(1)}; ${where}.${kinds && ` Kind of failure: ${kinds}.`} With the filing given: ${given}.`),
      make("ol", { class: "places" }, ...places.map((place) => {
        const isFiling = place[0] === question.doc, label = labelOf(question, place);
        const about = label === "gold page" ? label : `${isFiling ? "right filing, other page" : "other filing"}${label && `; judged: ${label}`}`;
        return make("li", { class: label === "gold page" ? "is-gold" : isFiling ? "is-filing" : null },
          `${nameOf(place)} `, make("span", { class: "about" }, about));
      })), judgedPages(question));
  }

  // For each method the ranks of the gold pages by condition, and the pages that it retrieved first.
  function methodsTable(question) {
    const heads = [...data.conditions.map((condition) => SEARCHED[condition]), "Pages of the first chunks, all filings"];
    const caption = `Rank of the first chunk of each gold page (${goldOf(question)}); ■ all among the first ${data.k}; `
      + '"> n" not among the first n, which were kept';
    const ranksCell = (method, condition) => {
      const ranks = ranksOf(question, method.name, condition), name = outcome(question, method.name, condition);
      if (!ranks) return make("td", {}, "–");
      const text = ranks.map((rank) => rank || `> ${data.depths[condition][placeOf.get(method.name)]}`).join(", ");
      return make("td", { class: "rank" }, `${text} `, mark(name), make("span", { class: "spoken" }, STATUS[name][2]));
    };
    const pageText = (place) => `${nameOf(place)}${labelOf(question, place) && ` (${labelOf(question, place)})`}`;
    return make("div", {}, make("h3", {}, "Every method"), byMethod("Ranks by condition", heads, bestFirst(data.questions), (method) => [
      ...data.conditions.map((condition) => ranksCell(method, condition)),
      make("td", {}, placesOf(question, method.name).map(pageText).join(" · ") || "–"),
    ], caption));
  }

  function pictures(question) {
    const figures = question.pictures.map((picture) => {
      const text = `${picture.doc}, p. ${picture.page}: ${picture.of}`, src = `../_static/explorer/${encodeURIComponent(picture.file)}`;
      return make("figure", {}, make("img", { src, alt: text, loading: "lazy" }), make("figcaption", {}, text));
    });
    return figures.length ? make("div", {}, make("h3", {}, "Pages"), make("div", { class: "pictures" }, ...figures)) : null;
  }

  function written(question) {
    const texts = (title, items) => (items.length ? fold(`${title} (${items.length})`, ...items.flatMap((item) =>
      [make("h4", {}, `${item.kind} (${item.model})`), make("p", { class: "written" }, item.text)])) : null);
    return make("div", {}, texts("Answers by calculation", question.written.filter((item) => item.model === "rules")),
      texts("What language models wrote, the shortest first", question.written.filter((item) => item.model !== "rules")));
  }

  function show(question) {
    detail.hidden = !question;
    if (!question) return;
    const hadFocus = detail.contains(document.activeElement);
    const facts = {
      Id: question.id, Answer: question.answer, Type: question.type, Company: question.company,
      Filing: `${question.doc} (${question.docType})`, "Gold pages": goldOf(question),
    };
    detail.replaceChildren(make("h2", { tabindex: "-1" }, question.text || question.id),
      make("dl", { class: "facts" }, ...Object.entries(facts).filter(([, value]) => value)
        .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
      ...[diagnosis, methodsTable, pictures, written].map((part) => part(question)).filter(Boolean));
    if (hadFocus) detail.firstChild.focus({ preventScroll: true });
  }

  function open() {
    takeAddress();
    refresh();
    if (!current()) return;
    detail.firstChild.focus({ preventScroll: true });
    detail.scrollIntoView();
  }

  // The reader's own copy of the questions, a JSON object per line: read here, sent nowhere.
  async function takeQuestions(event) {
    let n = 0;
    for (const line of (await event.target.files[0].text()).split("\n")) {
      let given = null;
      try { given = JSON.parse(line); } catch { continue; }
      const question = data.questions.find((one) => one.id === (given?.financebench_id || given?.question_id));
      if (question) { question.text = String(given.question || ""); question.answer = String(given.answer || ""); n += 1; }
    }
    event.target.nextSibling.textContent = n ? `${n} questions were read; they stay in this browser.` : "No question of this book is in that file.";
    refresh();
  }

  const own = data.questions.some((question) => question.text) ? null : make("p", { class: "own" },
    make("label", { for: "explorer-file" }, "To see the questions' text, open your copy of financebench_open_source.jsonl; nothing leaves your browser: "),
    make("input", { id: "explorer-file", type: "file", accept: ".jsonl,.json", onchange: takeQuestions }), make("span", { role: "status" }));
  root.replaceChildren(...[own, form, count, summary, legend, list, detail].filter(Boolean));
  window.addEventListener("hashchange", open);
  open();
})();
