"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads a JavaScript file, and
one more for the question that is chosen, so that it works from ``file://``. The page shows every text as text.
"""

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd

from lib.analysis.failures import OF_PAGES, missed_pages
from lib.answers.calculation import CALCULATED_STAGE, derivation
from lib.book.manifest import read_summary
from lib.book.notebooks import read_stages
from lib.data.pdf import drawn
from lib.diagnose.kept import kept_runs
from lib.diagnose.run_file import read_docnos
from lib.files import digest_of
from lib.method import MAIN
from lib.method_sets import TRAINED, baselines, measured
from lib.methods import METHODS
from lib.metrics import retrieval
from lib.metrics.frame import best
from lib.metrics.pooled import pooled_gold
from lib.models.written import read_records
from lib.schema import CONDITIONS, RUN_COLUMNS, NeedsFilings
from lib.store import FRAME, PRIVATE_FRAME
from lib.study import Study
from lib.typed import read_frame

K = 5
N_TOP = 5
MAX_TEXT = 500
PICTURES = {"dpi": 64, "quality": 55}
MARKUP = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
#: Fields of a question: what lists and filters need, and what its own file has.
FIRST = {"ranks": dict, "filing": str, "kinds": dict}
LATER = dict.fromkeys(("top", "pooled", "written", "pictures"), list)
EFFORTS = "answers/effort/"  # stages of :func:`lib.answers.answers.efforts`, before the name of a context


def write_explorer(study: Study) -> None:
    """Write the explorer's :func:`scripts` and, where the filings are here, pictures into the outputs."""
    data = explorer_data(study)
    if study.has_text:
        draw_pictures(study, data)
    for name, script in scripts(data).items():
        study.write(f"explorer/{name}", script)


def scripts(data: dict) -> dict[str, str]:
    """``data.js``, and for each question ``question-<its number>.js`` with LATER of it: no ``<``, ``>`` or ``&``."""

    def script(name: str, value: dict) -> str:
        return f"window.{name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':')).translate(MARKUP)};\n"

    first = [{name: one[name] for name in one if name not in LATER} for one in data["questions"]]
    later = [{name: one[name] for name in LATER} for one in data["questions"]]
    parts = {f"question-{number}.js": script("EXPLORER_PART", one) for number, one in enumerate(later)}
    return parts | {"data.js": script("EXPLORER", data | {"questions": first})}


def explorer_data(study: Study) -> dict:
    """All that the explorer shows but the pictures, JSON-able; lists by method are in the order of ``methods``.

    ``ranks[condition]`` of a question has for each method a rank for each gold page, that of its first chunk, 0 where
    none was retrieved; None for a run that is not available. ``depths[condition]`` has the last rank of each method's
    run. Under ``standard``, ``filing`` has a 1 for each method whose first K chunks have one of the gold filing, else a
    0; ``top`` the places of each method's first chunks: number of a filing in ``docs``, page, and so on.
    ``kinds[method]`` has the kinds of failure of the gold pages that it missed, where known, and ``pooled`` number of a
    filing, page and label of each page that was judged. Text and answer are there where the dataset is.
    """
    at_k = read_summary(study).query("k == @K", local_dict={"K": K})
    base = best(at_k[at_k["method"].isin(baselines())])["method"]
    by_id = {
        one.question_id: {
            "id": one.question_id,
            "text": getattr(one, "question", None),
            "answer": getattr(one, "answer", None),
            "type": one.question_type,
            "doc": one.doc_name,
            "docType": one.doc_type,
            "company": one.company,
            "gold": list(one.gold_pages),
        }
        | {name: empty() for name, empty in (FIRST | LATER).items()}
        for one in study.questions.itertuples()
    }
    docs = {name: number for number, name in enumerate(study.filings["doc_name"])}
    runs, depths = runs_of(study), {}
    names = [name for name in dict.fromkeys([*METHODS, *runs["standard"]]) if any(name in of for of in runs.values())]
    for condition, of in runs.items():
        depths[condition] = [int(max(of[name]["rank"], default=0)) if name in of else None for name in names]
        known = [gold_ranks(of[name], study.questions) if name in of else {} for name in names]
        for question_id, question in by_id.items():
            question["ranks"][condition] = [ranks.get(question_id) for ranks in known]
    for method in names:
        run = runs["standard"].get(method, pd.DataFrame(columns=list(RUN_COLUMNS)))
        in_filing = retrieval.doc_recall(run, study.questions, K)
        places = run[run["rank"] <= N_TOP].assign(doc=lambda top: top["doc_name"].map(docs))
        first = {of: part[["doc", "page"]].to_numpy().ravel().tolist() for of, part in places.groupby("question_id")}
        for question_id, question in by_id.items():
            question["filing"] += str(int(in_filing[question_id]))
            question["top"].append(first.get(question_id))
    for method in [name for name in (base, *TRAINED) if name in runs["standard"]]:
        with suppress(NeedsFilings):
            for one in missed_pages(study, method, K).itertuples():
                by_id[one.question_id]["kinds"].setdefault(method, []).append(one.kind)
    for row in pooled_gold(study.dataset.name).itertuples():
        if row.question_id in by_id and row.doc_name in docs:
            by_id[row.question_id]["pooled"].append([docs[row.doc_name], int(row.page), row.label])
    for question_id, text in written(study):
        if question_id in by_id:
            by_id[question_id]["written"].append(text)
    rows = [METHODS.get(name) for name in names]
    return {
        "dataset": study.dataset.name,
        "profile": study.profile.name,
        "k": K,
        "depths": depths,
        "docs": list(docs),
        "best": base,
        "conditions": list(runs),
        "methods": [
            {"name": name, "title": row.title if row else name, "isMain": row is None or row.family == MAIN}
            for name, row in zip(names, rows, strict=True)
        ],
        "kinds": {kind: rule.says.replace("top k", f"first {K} chunks") for kind, rule in OF_PAGES.items()},
        "questions": list(by_id.values()),
    }


def runs_of(study: Study) -> dict[str, dict[str, pd.DataFrame]]:
    """The runs that are available by condition and method, and those that were diagnosed here under their names."""
    found: dict[str, dict[str, pd.DataFrame]] = {condition: {} for condition in CONDITIONS}
    for method, condition in measured(study.profile):
        with suppress(NeedsFilings):
            found[condition][method] = study.run(method, condition)
    for kept in kept_runs(study):
        pages = read_docnos(kept.run_file)
        found["standard"].setdefault(kept.name, pages[pages["doc_name"].isin(study.filings["doc_name"])])
    return {condition: of for condition, of in found.items() if of}


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    found = retrieval.gold_ranks(run, questions).fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()


def written(study: Study) -> Iterator[tuple[str, dict[str, str]]]:
    """What was written for questions, by question_id: calculated answers with formula and cells, the last that was read
    first; then what language models wrote, the shortest text first, answers with their context and the judge's labels
    counted.

    Both as far as chapters read them; a published text of which only gaps are left is not among them.
    """
    contexts, texts, labels, calculated = {}, {}, defaultdict(Counter), []
    for line in read_stages(study):
        stage, key, (kind, _, context) = line["stage"], line["key"], line["stage"].rpartition("/")
        if stage.startswith(EFFORTS) and (entry := study.store.entry(stage, key)):
            for row in read_frame(entry.file(FRAME)).itertuples():
                contexts[row.question_id, row.n_prompt_tokens, row.seconds] = context.replace("_", " ")
        path = study.store.root / stage / key / PRIVATE_FRAME
        if kind == CALCULATED_STAGE and study.has_text and path.is_file():
            for row in read_frame(path).query("text != ''").itertuples():
                text = derivation(row.text, row.formula, row.cells)
                about = {"kind": f"calculation, given: {context}", "model": "rules", "text": text}
                calculated.insert(0, (row.question_id, about))
    if study.has_text:
        given = read_records(study.home / "generations.jsonl").values()
    else:
        given = study.published.generations(study.questions)
    for record in given:
        question_id, kind, model, text = record["question_id"], record["kind"], record["model"]["name"], record["text"]
        if kind == "judge":
            labels[question_id, "judge, labels of chunks", model][text.strip()] += 1
        elif re.search(r"\w", text.replace("[…]", "")):
            context = contexts.get((question_id, record.get("n_prompt_tokens"), record.get("seconds")), "")
            texts[question_id, f"{kind}, given: {context}" if context else kind, text] = model
    found = [(question_id, kind, model, text) for (question_id, kind, text), model in texts.items()]
    found += [(*of, "; ".join(f"{n} × {text}" for text, n in counts.most_common())) for of, counts in labels.items()]
    yield from calculated
    for question_id, kind, model, text in sorted(found, key=lambda one: (len(one[3]), one[1])):
        yield question_id, {"kind": kind, "model": model, "text": text[:MAX_TEXT]}


def draw_pictures(study: Study, data: dict) -> None:
    """Add small pictures of each question's gold pages, and of the first page of the best baseline and of TRAINED.

    Each question's ``pictures`` get ``file``, ``doc``, ``page`` and ``isGold``; filings given as text have none.
    """
    wanted = {}
    for question in data["questions"]:
        gold, first = [(question["doc"], page) for page in question["gold"]], []
        for method, top in zip(data["methods"], question["top"], strict=True):
            if top and method["name"] in (data["best"], *TRAINED):
                first.append((data["docs"][top[0]], top[1]))
        for doc, page in dict.fromkeys([*gold, *first]):
            if study.dataset.source(doc).suffix.lower() == ".pdf":
                file, is_gold = f"{digest_of([question['id'], doc, page])[:16]}.webp", (doc, page) in gold
                wanted[file] = question["id"], doc, page, is_gold
                question["pictures"].append({"file": file, "doc": doc, "page": page, "isGold": is_gold})

    def compute(target: Path) -> None:
        from PIL import Image

        texts = study.dataset.evidence.groupby(["question_id", "page"])["text"].agg("\n".join)
        for file, (question_id, doc_name, page, is_gold) in wanted.items():
            marked = texts.get((question_id, page), "") if is_gold else ""
            picture = drawn(str(study.dataset.source(doc_name)), page, PICTURES["dpi"], marked)
            Image.open(io.BytesIO(picture)).save(target / file, "WEBP", quality=PICTURES["quality"])

    params = {"dataset": study.dataset.fingerprint, "wanted": [*wanted.values()], **PICTURES}
    entry = study.store.files("explorer/pictures", params, compute)
    for file in wanted:
        study.link(entry.path / file, f"explorer/{file}")
