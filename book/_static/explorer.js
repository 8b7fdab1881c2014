// The question explorer: reads a question set's file (explorer/SET.js) once it is chosen, and shows every text as text.
// The address names the set, the filters and, as q, the question that is chosen. Pages are shown from 1.
"use strict";
(() => {
  const root = document.getElementById("explorer"), index = window.EXPLORER;
  if (!root || !index) return;
  const SEARCHED = { standard: "all filings", "oracle-document": "filing given", "oracle-page": "pages given" };
  // What became of a question: its mark, its word in the list, and its words in the legend.
  const STATUS = {
    hit: ["■", "found", "found"], part: ["◧", "found in part", "found in part"],
    other: ["◆", "another page answers", "another page answers"],
    page: ["□", "missed: page", "missed: page not retrieved"], filing: ["×", "missed: filing", "missed: filing not retrieved"],
    none: ["·", "no run", "no run"],
  };
  const LABELS = {
    full: "answers in full", part: "answers in part", no: "does not answer", elsewhere: "answers, in another filing",
  };

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
  const capital = (text) => text[0].toUpperCase() + text.slice(1);
  const address = () => new URLSearchParams(location.hash.slice(1));

  function select(label, name, options, chosen) {
    const box = make("select", { name, id: `explorer-${name}` },
      ...options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
    return make("label", { for: box.id }, label, box);
  }

  // The page over the data of one question set; gives the function that follows the address.
  function view(data, set) {
    const [STANDARD] = data.conditions, { docs } = data;
    const placeOf = new Map(data.methods.map((method, place) => [method.name, place]));
    const titleOf = (name) => data.methods[placeOf.get(name)].title;
    const filingOf = new Map(docs.map((doc) => [doc.name, doc]));
    const isJudged = data.questions.some((question) => Object.values(question.judged).includes("full"));
    const OUTCOMES = ["hit", "part", ...(isJudged ? ["other"] : []), "page", "filing"];

    // --- filters ---

    const same = (values) => values.map((value) => [value, value]);
    const methods = data.methods.map((method) => [method.name, method.title]);
    const types = [...new Set(data.questions.map((question) => question.type))].sort();
    const form = make("form", {
      class: "filters", role: "search", "aria-label": "Filter the questions",
      onsubmit: (event) => event.preventDefault(),
      oninput: (event) => {
        if (event.target.name === "set") { location.hash = linkTo({ q: "", type: "", words: "", other: "", kind: "" }); return; }
        history.replaceState(null, "", linkTo({})); refresh();
      },
    },
    index.sets.length > 1 ? select("Question set", "set", index.sets.map(({ name, n }) => [name, `${name} (${n})`]), set) : null,
    make("label", { for: "explorer-words" }, "Words, filing, id",
      make("input", { name: "words", id: "explorer-words", type: "search", autocomplete: "off" })),
    select("Question type", "type", [["", "all types"], ...same(types)]),
    select("Method", "method", methods, data.best),
    select("Condition", "condition", data.conditions.map((name) => [name, SEARCHED[name]])),
    select("Outcome", "outcome", [["", "all outcomes"], ...OUTCOMES.map((name) => [name, STATUS[name][2]]),
      ["miss", "missed"], ["won", "found, but not by the other method"],
      ["lost", "not found, but by the other method"]]),
    select("What was retrieved instead", "kind", [["", "anything"], ...data.kinds.map(([kind]) => [kind, kind])]),
    select("Other method", "other", [["", "none"], ...methods]));
    const chosen = (name) => form.elements[name].value;

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

    function ranksOf(question, method, condition) {
      const place = (data.runs[condition] || []).indexOf(placeOf.get(method));
      return place < 0 ? null : question.ranks[condition][place];
    }
    const placesOf = (question, method) => question.top[placeOf.get(method)] || []; // numbers of places
    const docOf = (question, place) => docs[question.places[place][0]].name;
    const isHit = (rank) => rank > 0 && rank <= data.k;

    // A key of STATUS; the filing is retrieved where one of the first k chunks is from it, or where it was given.
    function outcome(question, method = chosen("method"), condition = chosen("condition")) {
      const ranks = ranksOf(question, method, condition);
      if (!ranks) return "none";
      const found = ranks.filter(isHit).length;
      if (found) return found === ranks.length ? "hit" : "part";
      if (question.answered[condition].includes(placeOf.get(method))) return "other";
      const isInFiling = condition !== STANDARD || placesOf(question, method).some((place) => docOf(question, place) === question.doc);
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
    const kindsOf = (question, method) => question.kinds[placeOf.get(method)].map((number) => data.kinds[number]);

    // A row for each method, those of the study itself and the chosen ones first, the others folded below.
    function byMethod(label, heads, some, cellsOf, caption = null) {
      const row = (method) => make("tr", { class: method.name === chosen("method") ? "is-chosen" : null },
        make("th", { scope: "row" }, make("a", { href: linkTo({ method: method.name }) }, method.title)), ...cellsOf(method));
      const table = (name, rows) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
        make("table", {}, caption && make("caption", {}, caption),
          make("thead", {}, make("tr", {}, ...["Method", ...heads].map((head) => make("th", { scope: "col" }, capital(head))))),
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

    const pageName = (page) => (page < 0 ? "no page" : `p. ${page + 1}`);
    const goldOf = (question) => question.gold.map(pageName).join(", ");
    // What is shown in place of a text that may not be: the filing, the pages and the type.
    function titleFor(question) {
      const { company, form: kind, period } = filingOf.get(question.doc);
      return question.text || `${[company, kind, period].filter(Boolean).join(" ")}, ${goldOf(question)}: ${question.type}`;
    }

    function matches(question) {
      const { company } = filingOf.get(question.doc);
      const text = `${question.id} ${question.text || ""} ${question.doc} ${company} ${question.type}`.toLowerCase();
      const own = outcome(question), other = chosen("other") ? outcome(question, chosen("other")) : "none";
      const isOutcome = {
        "": true, miss: own === "page" || own === "filing",
        won: own === "hit" && !["hit", "none"].includes(other), lost: other === "hit" && !["hit", "none"].includes(own),
      }[chosen("outcome")] ?? own === chosen("outcome");
      return isOutcome && (!chosen("type") || question.type === chosen("type"))
        && (!chosen("kind") || kindsOf(question, chosen("method")).some(([kind]) => kind === chosen("kind")))
        && chosen("words").toLowerCase().split(/\s+/).every((word) => text.includes(word));
    }

    function refresh() {
      const shown = data.questions.filter(matches), columns = bestFirst(data.questions).filter(isFirst);
      const counts = OUTCOMES.map((name) => [shown.filter((question) => outcome(question) === name).length, STATUS[name][2]]);
      count.replaceChildren(make("strong", {}, `${shown.length} of ${data.questions.length} questions. `), `${titleOf(chosen("method"))} (${SEARCHED[chosen("condition")]}, `
        + `first ${data.k} chunks): ${counts.filter(([n]) => n).map(([n, words]) => `${n} ${words}`).join(", ") || "no run"}. `,
      make("a", { href: `#${new URLSearchParams({ set })}` }, "Clear the filters"));
      list.replaceChildren(...shown.map((question) => make("li", {},
        make("a", { href: linkTo({ q: question.id }), "aria-current": question === current() ? "true" : null },
          make("span", { class: "outcome" }, mark(outcome(question)), ` ${STATUS[outcome(question)][1]}`),
          make("span", { class: "title" }, titleFor(question),
            make("span", { class: "where" }, question.text ? `${question.doc} · ${question.type}` : `${question.doc} · ${question.id}`),
            strip(question, columns))))));
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
      const counts = Object.keys(STATUS).map((name) => [names.filter((one) => one === name).length, STATUS[name][2]]);
      const label = counts.filter(([n]) => n).map(([n, word]) => `${n} ${word}`).join(", ");
      return make("span", { class: "strip", role: "img", "aria-label": `Of ${names.length} methods: ${label}` }, ...columns.map((method, place) => {
        const sign = mark(names[place]);
        sign.classList.toggle("is-chosen", method.name === chosen("method"));
        sign.title = `${method.title}: ${STATUS[names[place]][2]}`;
        return sign;
      }));
    }

    // --- the question that is chosen ---

    // A page of a filing, which leads into its PDF where that has a public address.
    function pageLink(doc, page, text = `${doc} ${pageName(page)}`) {
      const { link } = filingOf.get(doc) || {};
      return link && page >= 0 ? make("a", { href: `${link}#page=${page + 1}`, rel: "noopener" }, text) : text;
    }
    const placeLink = (question, place) => pageLink(docOf(question, place), question.places[place][1]);
    const between = (nodes, text) => nodes.flatMap((node, place) => (place ? [text, node] : [node]));
    const isGold = (question, place) => docOf(question, place) === question.doc && question.gold.includes(question.places[place][1]);
    // What is known of a page: gold, or the label of the readers who judged it.
    const labelOf = (question, place) => (isGold(question, place) ? "gold page" : LABELS[question.judged[place]] || "");

    function judgedPages(question) {
      const judged = Object.keys(question.judged).map(Number), others = judged.filter((place) => !isGold(question, place));
      if (!judged.length) return null;
      const pages = (label) => {
        const found = others.filter((place) => question.judged[place] === label);
        return found.length ? [make("span", {}, `${LABELS[label]}: `, ...between(found.map((place) => placeLink(question, place)), ", "))] : [];
      };
      const named = ["full", "part", "elsewhere"].flatMap(pages);
      return make("p", { class: "pooled" }, `Readers judged ${judged.length} pages`, ...(named.length ? ["; beside the gold pages, ", ...between(named, "; "), "."] : ["; none but gold pages answers."]));
    }

    // Why: at which step the chosen method lost the evidence, and what was retrieved instead.
    function diagnosis(question) {
      const method = chosen("method"), places = placesOf(question, method);
      if (!places.length) return null;
      const inFiling = places.filter((place) => docOf(question, place) === question.doc).length;
      const [words, given] = [STANDARD, "oracle-document"].map((condition) => STATUS[outcome(question, method, condition)][2]);
      const kinds = kindsOf(question, method).map(([kind, says]) => `${kind} (${says})`).join("; ");
      return make("div", {}, make("h3", {}, `Why: ${titleOf(method)}`),
        make("p", {}, `${capital(words)}. ${inFiling} of the first ${places.length} chunks are from the right filing.`
          + `${kinds && ` Of the missed gold pages: ${kinds}.`} With the filing given: ${given}.`),
        make("ol", { class: "places" }, ...places.map((place) => {
          const isFiling = docOf(question, place) === question.doc, label = labelOf(question, place);
          const about = label === "gold page" ? label : `${isFiling ? "right filing, other page" : "other filing"}${label && `; judged: ${label}`}`;
          const isAnswer = label === LABELS.full;
          return make("li", { class: label === "gold page" ? "is-gold" : isAnswer ? "is-answer" : isFiling ? "is-filing" : null },
            placeLink(question, place), " ", make("span", { class: "about" }, about));
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
        const depth = data.depths[condition][data.runs[condition].indexOf(placeOf.get(method.name))];
        const text = ranks.map((rank) => rank || `> ${depth}`).join(", ");
        return make("td", { class: "rank" }, `${text} `, mark(name), make("span", { class: "spoken" }, STATUS[name][2]));
      };
      const named = (place) => make("span", {}, placeLink(question, place), labelOf(question, place) && ` (${labelOf(question, place)})`);
      return make("div", {}, make("h3", {}, "Every method"), byMethod("Ranks by condition", heads, bestFirst(data.questions), (method) => [
        ...data.conditions.map((condition) => ranksCell(method, condition)),
        make("td", {}, ...(placesOf(question, method.name).length ? between(placesOf(question, method.name).map(named), " · ") : ["–"])),
      ], caption));
    }

    function evidence(question) {
      return question.evidence.length ? make("div", {}, make("h3", {}, "Evidence"), ...question.evidence.flatMap(([page, text]) => [
        make("h4", {}, pageLink(question.doc, page)), make("p", { class: "written quoted" }, text)])) : null;
    }

    function pictures(question) {
      const figures = question.pictures.map((picture) => {
        const text = `${picture.doc}, ${pageName(picture.page)}: ${picture.of}`, src = `../_static/explorer/${encodeURIComponent(picture.file)}`;
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
      const hadFocus = detail.contains(document.activeElement), { company, form: kind } = filingOf.get(question.doc);
      const facts = {
        Id: question.id, Answer: question.answer, Type: question.type, Company: company, Filing: `${question.doc} (${kind})`,
      };
      const gold = between(question.gold.map((page) => pageLink(question.doc, page, pageName(page))), ", ");
      detail.replaceChildren(make("h2", { tabindex: "-1" }, titleFor(question)),
        make("dl", { class: "facts" }, ...Object.entries(facts).filter(([, value]) => value)
          .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]), make("dt", {}, "Gold pages"), make("dd", {}, ...gold)),
        ...[evidence, diagnosis, methodsTable, pictures, written].map((part) => part(question)).filter(Boolean));
      if (hadFocus) detail.firstChild.focus({ preventScroll: true });
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
      event.target.nextSibling.textContent = n ? `${n} questions were read; they stay in this browser.` : "No question of this set is in that file.";
      refresh();
    }

    const own = data.questions.some((question) => question.text) ? null : make("p", { class: "own" },
      make("label", { for: "explorer-file" }, "To see the questions' text, open your copy of their file (JSON lines, as FinanceBench's); nothing leaves your browser: "),
      make("input", { id: "explorer-file", type: "file", accept: ".jsonl,.json", onchange: takeQuestions }), make("span", { role: "status" }));
    root.replaceChildren(...[own, form, count, summary, legend, list, detail].filter(Boolean));
    return () => {
      takeAddress();
      refresh();
      if (!current()) return;
      detail.firstChild.focus({ preventScroll: true });
      detail.scrollIntoView();
    };
  }

  let shown = null, follow = null; // the set that is shown, and the function that follows the address in it

  function open() {
    const wanted = index.sets.find(({ name }) => name === address().get("set")) || index.sets[0];
    if (!index.data[wanted.name]) {
      document.head.append(make("script", { src: `../_static/explorer/${encodeURIComponent(wanted.name)}.js`, onload: open }));
      return;
    }
    if (shown !== wanted) {
      const hadFocus = document.activeElement?.id;
      follow = view(index.data[wanted.name], wanted.name);
      shown = wanted;
      if (hadFocus) document.getElementById(hadFocus)?.focus({ preventScroll: true });
    }
    follow();
  }

  window.addEventListener("hashchange", open);
  open();
})();
