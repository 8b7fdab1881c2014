// Two rows of the leaderboard compared question by question, as lib/stats.py does: whole companies are drawn.
"use strict";
(() => {
  const DRAWS = 10000, Z = 1.959963984540054;

  // Random numbers from a seed (mulberry32), so that the same pair has the same interval again.
  function randomFrom(seed) {
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // As numpy's quantile, of sorted values.
  function quantile(values, share) {
    const place = share * (values.length - 1), low = Math.floor(place), high = Math.ceil(place);
    return values[low] + (values[high] - values[low]) * (place - low);
  }

  // The mean of differences, its 95 % interval (bootstrap over companies) and p (random signs, one a company).
  function paired(differences, companies, seed = 1) {
    const sums = [], sizes = [], random = randomFrom(seed);
    differences.forEach((value, place) => {
      sums[companies[place]] = (sums[companies[place]] || 0) + value;
      sizes[companies[place]] = (sizes[companies[place]] || 0) + 1;
    });
    const n = differences.length, m = sums.length, total = sums.reduce((a, b) => a + b, 0), means = [];
    const slack = 1e-9 * sums.reduce((a, b) => a + Math.abs(b), 0);
    let hits = 0;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      let sum = 0, size = 0, signed = 0;
      for (let one = 0; one < m; one += 1) {
        const company = Math.floor(random() * m);
        sum += sums[company]; size += sizes[company];
        signed += random() < 0.5 ? sums[one] : -sums[one];
      }
      means.push(sum / size);
      hits += Math.abs(signed) >= Math.abs(total) - slack;
    }
    means.sort((a, b) => a - b);
    let [low, high] = [quantile(means, 0.025), quantile(means, 0.975)];
    if (means[DRAWS - 1] - means[0] < 1e-12) { high = Z * Z / (n + Z * Z); low = -high; } // as Wilson's of 0 of n
    return { mean: total / n, low, high, p: (1 + hits) / (1 + DRAWS), n, companies: m };
  }
  window.paired = paired;

  const form = document.getElementById("pairs"), result = document.getElementById("pair");
  if (!form) return;
  const table = document.querySelector("table.board"), rows = [...table.tBodies[0].rows];
  const titles = new Map(rows.map((row) => [row.dataset.method, row.querySelector(".title").firstChild.textContent.trim()]));
  const sets = new Map([...table.tHead.rows[0].cells].filter((head) => head.dataset.of)
    .map((head) => [head.dataset.of, head.querySelector("small").textContent]));
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

  function select(name, label, options, chosen) {
    const box = document.createElement("select"), around = document.createElement("label");
    box.name = name;
    for (const [value, text] of options) box.add(new Option(text, value, value === chosen, value === chosen));
    around.append(`${label} `, box);
    return around;
  }

  function show() {
    const { set, first, second } = Object.fromEntries(new FormData(form)), data = (window.PAIRS || {})[set];
    if (!data) {
      const script = document.createElement("script");
      script.src = `../_static/pairs/${encodeURIComponent(set)}.js`;
      script.onload = show;
      document.head.append(script);
      return;
    }
    const [one, other] = [data.recall[first], data.recall[second]];
    const missing = [first, second].filter((name) => !data.recall[name]).map((name) => titles.get(name));
    if (missing.length) { result.textContent = `Not measured on ${sets.get(set)}: ${missing.join(", ")}.`; return; }
    const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
    const found = paired(one.map((value, place) => value - other[place]), data.companies);
    const isShown = found.p < 0.05, isLikely = !isShown && (found.low > 0 || found.high < 0);
    const verdict = isShown || isLikely ? `${isLikely ? "likely " : ""}${found.mean > 0 ? "gain" : "loss"}` : "inconclusive";
    result.replaceChildren(Object.assign(document.createElement("strong"), {
      textContent: `${signed(found.mean)} [${signed(found.low)}, ${signed(found.high)}], ${verdict}`,
    }), ` (p ${found.p < 0.0005 ? "< 0.001" : `= ${found.p.toFixed(3)}`}). ${titles.get(first)} finds ${mean(one).toFixed(2)}, `
      + `${titles.get(second)} ${mean(other).toFixed(2)} of the pages of ${found.n} questions about ${found.companies} companies.`);
  }

  const options = [...titles], given = new URLSearchParams(location.hash.slice(1));
  const chosen = (name, otherwise) => (titles.has(given.get(name)) ? given.get(name) : otherwise);
  form.append(select("first", "Method", options, chosen("first", options[0][0])),
    select("second", "less", options, chosen("second", titles.has("dense_records") ? "dense_records" : options[options.length - 1][0])),
    select("set", "on", [...sets], given.get("set")));
  form.addEventListener("input", () => {
    history.replaceState(null, "", `#${new URLSearchParams(Object.fromEntries(new FormData(form)))}`);
    show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show();
})();
