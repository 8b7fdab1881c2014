"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads one JavaScript file, so
that it works from ``file://``. The page shows every text as text.
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
from lib.book.headline import best_standard
from lib.book.manifest import read_summary
from lib.book.notebooks import read_stages
from lib.data.pdf import drawn
from lib.diagnose.run_file import read_docnos
from lib.diagnose.stored import stored_runs
from lib.files import digest_of
from lib.method import MAIN
from lib.method_sets import TRAINED, measured
from lib.methods import METHODS
from lib.metrics import retrieval
from lib.metrics.pooled import answering_pages
from lib.models.written import read_records
from lib.schema import CONDITIONS, NeedsFilings
from lib.study import Study

K = 5
MAX_TEXT = 500
PICTURES = {"dpi": 64, "quality": 55}
EFFORTS = "answers/effort/"  # stages of :func:`lib.answers.answers.efforts`, before the name of a context


def write_explorer(study: Study) -> None:
    """Write the explorer's data, and pictures where the filings are here, into ``explorer/`` of the outputs."""
    data = explorer_data(study)
    if study.has_text:
        draw_pictures(study, data)
    study.write("explorer/data.js", script(data))


def script(data: dict) -> str:
    """The data as JavaScript, in ASCII and without the beginning of a tag."""
    text = json.dumps(data, separators=(",", ":")).replace("<", r"\u003c")
    return f"window.EXPLORER = {text};\n"


def explorer_data(study: Study) -> dict:
    """All that the explorer shows but the pictures, JSON-able; lists by method are in the order of ``methods``.

    ``ranks[condition]`` of a question has for each method a rank for each gold page, that of its first chunk, 0 where
    none was retrieved; None for a run that is not available. ``depths[condition]`` has the last rank of each method's
    run. ``top`` has for each method the places of its first K chunks under ``standard``: number of a filing in
    ``docs``, and page. ``kinds[method]`` has the kinds of failure of the gold pages that it missed, where known, and
    ``pooled`` place and label of each page that was judged. Text and answer are there where the dataset is.
    """
    runs = runs_of(study)
    names = [name for name in dict.fromkeys([*METHODS, *runs["standard"]]) if any(name in of for of in runs.values())]
    number = {doc_name: n for n, doc_name in enumerate(study.filings["doc_name"])}
    questions, depths = {row.question_id: _question(row) for row in study.questions.itertuples()}, {}
    for condition, of in runs.items():
        depths[condition] = [int(max(of[name]["rank"], default=0)) if name in of else None for name in names]
        ranks = [gold_ranks(of[name], study.questions) if name in of else {} for name in names]
        for question_id, question in questions.items():
            question["ranks"][condition] = [one.get(question_id) for one in ranks]
    for name in names:
        first: dict[str, list] = defaultdict(list)
        if name in runs["standard"]:
            run = runs["standard"][name]
            for row in run[run["rank"] <= K].itertuples():
                first[row.question_id].append([number[row.doc_name], int(row.page)])
        for question_id, question in questions.items():
            question["top"].append(first.get(question_id))
    base = best_standard(read_summary(study))
    for method in [name for name in dict.fromkeys((base, *TRAINED)) if name in runs["standard"]]:
        with suppress(NeedsFilings):
            for row in missed_pages(study, method, K).itertuples():
                questions[row.question_id]["kinds"].setdefault(method, []).append(row.kind)
    for row in answering_pages(study.dataset.name, study.questions).itertuples():
        if row.question_id in questions and row.doc_name in number:
            questions[row.question_id]["pooled"].append([[number[row.doc_name], int(row.page)], row.label])
    for question_id, text in [*calculated(study), *written(study)]:
        if question_id in questions:
            questions[question_id]["written"].append(text)
    rows = {name: METHODS.get(name) for name in names}  # none of a run from outside
    return {
        "k": K,
        "best": base,
        "conditions": list(runs),
        "depths": depths,
        "docs": list(number),
        "methods": [
            {"name": name, "title": row.title if row else name, "isMain": row is None or row.family == MAIN}
            for name, row in rows.items()
        ],
        "kinds": {kind: rule.says.replace("top k", f"first {K} chunks") for kind, rule in OF_PAGES.items()},
        "questions": list(questions.values()),
    }


def _question(row: tuple) -> dict:
    about = {"id": row.question_id, "text": getattr(row, "question", None), "answer": getattr(row, "answer", None)}
    about |= {"type": row.question_type, "doc": row.doc_name, "docType": row.doc_type, "company": row.company}
    lists = {name: [] for name in ("top", "pooled", "written", "pictures")}
    return about | {"gold": list(row.gold_pages), "ranks": {}, "kinds": {}} | lists


def runs_of(study: Study) -> dict[str, dict[str, pd.DataFrame]]:
    """The runs that are available by condition and method, and those that were diagnosed here under their names."""
    found: dict[str, dict[str, pd.DataFrame]] = {condition: {} for condition in CONDITIONS}
    for method, condition in measured(study.profile):
        with suppress(NeedsFilings):
            found[condition][method] = study.run(method, condition)
    for outside in stored_runs(study):
        pages = read_docnos(outside.run_file)
        found[outside.condition].setdefault(outside.name, pages[pages["doc_name"].isin(study.filings["doc_name"])])
    return {condition: of for condition, of in found.items() if of}


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    found = retrieval.gold_ranks(run, questions).fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()


def calculated(study: Study) -> list[tuple[str, dict[str, str]]]:
    """Answers that were calculated, with formula and cells, by question_id; the last that a chapter read first."""
    found = []
    for context, answers in _frames_by_context(study, f"{CALCULATED_STAGE}/") if study.has_text else ():
        for row in answers.query("text != ''").itertuples():
            text = derivation(row.text, row.formula, row.cells)
            found.append((row.question_id, {"kind": f"calculation, given: {context}", "model": "rules", "text": text}))
    return found[::-1]


def written(study: Study) -> Iterator[tuple[str, dict[str, str]]]:
    """What language models wrote, by question_id: the shortest text first, answers with their context, the judge's
    labels counted. A published text of which only gaps are left is not among them."""
    if study.has_text:
        records = read_records(study.home / "generations.jsonl").values()
    else:
        records = study.published.generations(study.questions)
    contexts, texts, labels = contexts_of_answers(study), {}, defaultdict(Counter)
    for record in records:
        question_id, kind, model, text = record["question_id"], record["kind"], record["model"]["name"], record["text"]
        if kind == "judge":
            labels[question_id, "judge, labels of chunks", model][text.strip()] += 1
        elif re.search(r"\w", text.replace("[…]", "")):
            context = contexts.get((question_id, record.get("n_prompt_tokens"), record.get("seconds")))
            texts[question_id, f"{kind}, given: {context}" if context else kind, text] = model
    found = [(question_id, kind, model, text) for (question_id, kind, text), model in texts.items()]
    found += [(*of, "; ".join(f"{n} × {text}" for text, n in counts.most_common())) for of, counts in labels.items()]
    for question_id, kind, model, text in sorted(found, key=lambda one: (len(one[3]), one[1])):
        yield question_id, {"kind": kind, "model": model, "text": text[:MAX_TEXT]}


def contexts_of_answers(study: Study) -> dict[tuple[str, int, float], str]:
    """The name of the context of each answer, by what its record has in common with the stored efforts: question_id,
    tokens of the prompt and seconds. A record has neither the context's name nor, without the filings, its prompt."""
    found = {}
    for context, efforts in _frames_by_context(study, EFFORTS):
        for row in efforts.itertuples():
            found[row.question_id, row.n_prompt_tokens, row.seconds] = context.replace("_", " ")
    return found


def _frames_by_context(study: Study, start: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Context and frame of the stages that chapters used and whose names are ``start`` and a context's name."""
    for one in read_stages(study):
        if one["stage"].startswith(start) and (entry := study.store.entry(one["stage"], one["key"])):
            yield one["stage"].removeprefix(start), entry.frame()


def draw_pictures(study: Study, data: dict) -> None:
    """Add small pictures of each question's gold pages, and of the first page of the best baseline and of TRAINED.

    Each question's ``pictures`` get ``file``, ``doc``, ``page`` and ``of``; filings given as text have none.
    """
    wanted = {}
    for question in data["questions"]:
        captions = {(question["doc"], page): ["gold page"] for page in question["gold"]}
        for method, top in zip(data["methods"], question["top"], strict=True):
            if top and method["name"] in (data["best"], *TRAINED):
                [doc, page] = top[0]
                captions.setdefault((data["docs"][doc], page), []).append(f"first page of {method['title']}")
        for (doc, page), of in captions.items():
            if study.dataset.source(doc).suffix.lower() == ".pdf":
                file = f"{digest_of([question['id'], doc, page])[:16]}.webp"
                wanted[file] = question["id"], doc, page, of[0] == "gold page"
                question["pictures"].append({"file": file, "doc": doc, "page": page, "of": ", ".join(of)})

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
