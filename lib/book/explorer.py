"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads a JavaScript file, and
one more for the question that is chosen, so that it works from ``file://``. Nothing here is markup: the page shows
every text as text.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd

from lib.analysis.failures import OF_PAGES, missed_pages
from lib.answers.calculation import CALCULATED_STAGE, derivation
from lib.book.manifest import read_summary
from lib.book.notebooks import read_stages
from lib.data.pdf import drawn
from lib.diagnose import kept_runs
from lib.files import digest_of
from lib.method import MAIN
from lib.method_sets import TRAINED, baselines, measured
from lib.methods import METHODS
from lib.metrics import retrieval
from lib.metrics.frame import best
from lib.metrics.pooled import pooled_gold
from lib.models.written import read_records
from lib.store import FRAME, PRIVATE_FRAME
from lib.study import Study
from lib.typed import read_frame
from lib.words import CONDITIONS, RUN_COLUMNS, NeedsFilings

K = 5
N_TOP = 5
MAX_TEXT = 500
PICTURES = {"dpi": 64, "quality": 55}
MARKUP = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
LATER = ("top", "pooled", "written", "pictures")  # of a question, what lists and filters do not need
EFFORTS = "answers/effort/"  # stages of :func:`lib.answers.answers.efforts`, before the name of a context


def write_explorer(study: Study) -> None:
    """Write the explorer's :func:`scripts` and, where the filings are here, pictures into the outputs."""
    data = explorer_data(study)
    if study.has_text:
        draw_pictures(study, data)
    for name, script in scripts(data).items():
        study.write(f"explorer/{name}", script)


def scripts(data: dict) -> dict[str, str]:
    """``data.js``, and for each question ``question-<its number>.js`` with LATER of it, as :func:`as_script`."""
    asked = data["questions"]
    parts = {
        f"question-{number}.js": as_script({name: question[name] for name in LATER}, "EXPLORER_PART")
        for number, question in enumerate(asked)
    }
    first = [{name: value for name, value in question.items() if name not in LATER} for question in asked]
    return parts | {"data.js": as_script(data | {"questions": first})}


def as_script(data: dict, name: str = "EXPLORER") -> str:
    """The data as a JavaScript file that may be put anywhere: no ``<``, ``>`` or ``&`` in it."""
    return f"window.{name} = {json.dumps(data, ensure_ascii=False, separators=(',', ':')).translate(MARKUP)};\n"


def explorer_data(study: Study) -> dict:
    """All that the explorer shows but the pictures, JSON-able; lists by method are in the order of ``methods``.

    ``ranks[condition]`` of a question has for each method a rank for each gold page, that of its first chunk, 0 where
    none was retrieved; None for a run that is not available. ``depths[condition]`` has the last rank of each method's
    run. Under ``standard``, ``filing`` has a 1 for each method whose first K chunks have one of the gold filing, else a
    0; ``top`` the places of each method's first chunks: number of a filing in ``docs``, page, and so on.
    ``kinds[method]`` has the kinds of failure of the gold pages that it missed, where known, and ``pooled`` number of a
    filing, page and label of each page that was judged.
    """
    at_k = read_summary(study).query("k == @K", local_dict={"K": K})
    base = best(at_k[at_k["method"].isin(baselines())])["method"]
    by_id = {question.question_id: _question(question) for question in study.questions.itertuples()}
    docs = {name: number for number, name in enumerate(study.filings["doc_name"])}
    runs = runs_of(study)
    names = list(
        dict.fromkeys(name for name in (*METHODS, *runs["standard"]) if any(name in of for of in runs.values()))
    )
    depths = {condition: [_depth(of.get(name)) for name in names] for condition, of in runs.items()}
    for condition, of in runs.items():
        for question in by_id.values():
            question["ranks"][condition] = [None] * len(names)
        for (method, question_id), ranks in gold_ranks(of, study.questions).items():
            by_id[question_id]["ranks"][condition][names.index(method)] = ranks
    for method in names:
        run = runs["standard"].get(method, pd.DataFrame(columns=list(RUN_COLUMNS)))
        in_filing = retrieval.doc_recall(run, study.questions, K)
        first = dict(list(run[run["rank"] <= N_TOP].groupby("question_id")))
        for question_id, question in by_id.items():
            question["filing"] += str(int(in_filing[question_id]))
            places = first[question_id][["doc_name", "page"]].itertuples(index=False) if question_id in first else None
            question["top"].append(places and [number for doc, page in places for number in (docs[doc], int(page))])
    for method in (base, *TRAINED):
        try:
            missed = missed_pages(study, method, K) if method in runs["standard"] else pd.DataFrame()
        except NeedsFilings:
            continue
        for question_id, part in missed.groupby("question_id") if len(missed) else ():
            by_id[question_id]["kinds"][method] = part["kind"].tolist()
    for row in pooled_gold(study.dataset.name).itertuples():
        if row.question_id in by_id and row.doc_name in docs:
            by_id[row.question_id]["pooled"].append([docs[row.doc_name], int(row.page), row.label])
    for record in _written(study):
        if record["question_id"] in by_id:
            by_id[record["question_id"]]["written"].append(
                {"kind": record["kind"], "model": record["model"]["name"], "text": record["text"][:MAX_TEXT]}
            )
    for question_id, text in derivations(study):
        if question_id in by_id:
            by_id[question_id]["written"].insert(0, text)
    return {
        "dataset": study.dataset.name,
        "profile": study.profile.name,
        "k": K,
        "depths": depths,
        "docs": list(docs),
        "best": base,
        "conditions": list(runs),
        "methods": [_method(name) for name in names],
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
        found["standard"].setdefault(kept.name, kept.pages[kept.pages["doc_name"].isin(study.filings["doc_name"])])
    return {condition: of for condition, of in found.items() if of}


def _method(name: str) -> dict:
    row = METHODS.get(name)
    return {"name": name, "title": row.title if row else name, "isMain": row is None or row.family == MAIN}


def _depth(run: pd.DataFrame | None) -> int | None:
    return None if run is None else int(run["rank"].max()) if len(run) else 0


def gold_ranks(runs: Mapping[str, pd.DataFrame], questions: pd.DataFrame) -> dict[tuple[str, str], list[int]]:
    """For each run's name and question, for each of its gold pages in order, the rank of the page's first chunk; 0 for
    none."""
    parts = {name: retrieval.gold_ranks(run, questions) for name, run in runs.items()}
    found = pd.concat(parts, names=["method"]).reset_index("method").fillna({"rank": 0}).astype({"rank": int})
    return found.groupby(["method", "question_id"], sort=False)["rank"].agg(list).to_dict()


def _question(question) -> dict:
    """A question's own fields; its text and answer only where the dataset is here."""
    return {
        "id": question.question_id,
        "text": getattr(question, "question", None),
        "answer": getattr(question, "answer", None),
        "type": question.question_type,
        "doc": question.doc_name,
        "docType": question.doc_type,
        "company": question.company,
        "gold": list(question.gold_pages),
    } | {"ranks": {}, "filing": "", "kinds": {}, "top": [], "pooled": [], "written": [], "pictures": []}


def contexts_of(study: Study) -> dict[tuple[str, int, float], str]:
    """Which context an answer was written for, by question, prompt tokens and seconds, as far as chapters read it."""
    found = {}
    for line in read_stages(study):
        is_wanted = line["stage"].startswith(EFFORTS)
        if is_wanted and (entry := study.store.entry(line["stage"], line["key"])):
            for row in read_frame(entry.file(FRAME)).itertuples():
                found[row.question_id, row.n_prompt_tokens, row.seconds] = line["stage"].removeprefix(EFFORTS)
    return found


def derivations(study: Study) -> Iterator[tuple[str, dict[str, str]]]:
    """Calculated answers with their formula and cells, by question, as far as chapters read them; where filings are."""
    for line in read_stages(study):
        stage, _, context = line["stage"].rpartition("/")
        path = study.store.root / line["stage"] / line["key"] / PRIVATE_FRAME
        if stage == CALCULATED_STAGE and study.has_text and path.is_file():
            for row in read_frame(path).query("text != ''").itertuples():
                shown = derivation(row.text, row.formula, row.cells)
                yield (row.question_id, {"kind": f"calculation, given: {context}", "model": "rules", "text": shown})


def _written(study: Study) -> list[dict]:
    """What language models wrote: the judge's labels counted, answers with their context, the shortest text first.

    A published text of which only gaps are left is not among them.
    """
    if study.has_text:
        given = read_records(study.home / "generations.jsonl").values()
    else:
        given = study.published.generations(study.questions)
    known, shown, judged = contexts_of(study), {}, {}
    for record in given:
        place = record["question_id"], record.get("n_prompt_tokens"), record.get("seconds")
        kind = record["kind"] + (f", given: {known[place].replace('_', ' ')}" if place in known else "")
        if record["kind"] == "judge":
            judged.setdefault((record["question_id"], record["model"]["name"]), []).append(record["text"].strip())
        elif re.search(r"\w", record["text"].replace("[…]", "")):
            shown[record["question_id"], kind, record["text"]] = record | {"kind": kind}
    labels = [
        {
            "question_id": question_id,
            "kind": "judge, labels of chunks",
            "model": {"name": model},
            "text": "; ".join(f"{n} × {text}" for text, n in Counter(texts).most_common()),
        }
        for (question_id, model), texts in judged.items()
    ]
    return sorted([*shown.values(), *labels], key=lambda one: (len(one["text"]), one["kind"]))


def draw_pictures(study: Study, data: dict) -> None:
    """Add small pictures of each question's gold pages, and of the first page of the best baseline and of TRAINED.

    Each question's ``pictures`` get ``file``, ``doc``, ``page`` and ``isGold``; filings given as text have none.
    """
    wanted, files = [], []
    for question in data["questions"]:
        places = [(question["doc"], page, True) for page in question["gold"]]
        for name, top in zip(data["methods"], question["top"], strict=True):
            if top and name["name"] in (data["best"], *TRAINED):
                first = data["docs"][top[0]], top[1]
                places += [(*first, False)] if first not in [place[:2] for place in places] else []
        for doc, page, is_gold in places:
            if study.dataset.source(doc).suffix == ".pdf":
                wanted.append((question["id"], doc, page, is_gold))
                files.append(f"{digest_of([question['id'], doc, page])[:16]}.webp")
                question["pictures"].append({"file": files[-1], "doc": doc, "page": page, "isGold": is_gold})

    def compute(target: Path) -> None:
        from PIL import Image

        texts = study.dataset.evidence.groupby(["question_id", "page"])["text"].agg("\n".join)
        for (question_id, doc_name, page, is_gold), file in zip(wanted, files, strict=True):
            marked = texts.get((question_id, page), "") if is_gold else ""
            picture = drawn(str(study.dataset.source(doc_name)), page, PICTURES["dpi"], marked)
            Image.open(io.BytesIO(picture)).save(target / file, "WEBP", quality=PICTURES["quality"])

    params = {"dataset": study.dataset.fingerprint, "wanted": wanted, **PICTURES}
    entry = study.store.get("explorer/pictures", params, compute)
    for file in files:
        study.link(entry.path / file, f"explorer/{file}")
