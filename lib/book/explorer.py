"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads one JavaScript file, so
that it works from ``file://``. Nothing here is markup: the page shows every text as text.
"""

import itertools
import json
from pathlib import Path

import pandas as pd

from lib.book.manifest import read_summary
from lib.files import digest_of
from lib.methods import of_family
from lib.metrics import retrieval
from lib.metrics.frame import best
from lib.models.written import read_records
from lib.show.pictures import page_raster
from lib.show.tables import title
from lib.study import Study
from lib.words import CONDITIONS, NeedsFilings

K = 5
N_TOP = 5
MAX_TEXT = 2000
PICTURES = {"dpi": 64, "quality": 55}
MARKUP = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def write_explorer(study: Study) -> None:
    """Write ``explorer/data.js`` of the outputs and, where the filings are here, ``explorer/*.webp``."""
    data = explorer_data(study)
    if study.has_text:
        draw_pictures(study, data)
    study.write("explorer/data.js", as_script(data))


def as_script(data: dict) -> str:
    """The data as a JavaScript file that may be put anywhere: no ``<``, ``>`` or ``&`` in it."""
    return f"window.EXPLORER = {json.dumps(data, ensure_ascii=False, separators=(',', ':')).translate(MARKUP)};\n"


def explorer_data(study: Study) -> dict:
    """All that the explorer shows but the pictures, JSON-able.

    ``ranks[condition][method]`` has for each gold page the rank of its first chunk, 0 where none was retrieved;
    a run that is not available is left out; ``depths[method][condition]`` is the last rank of the run; ``top[method]``
    is where the first chunks under ``standard`` stand.
    """
    at_k = read_summary(study).query("k == @K", local_dict={"K": K})
    by_id = {question.question_id: _question(question) for question in study.questions.itertuples()}
    depths: dict[str, dict[str, int]] = {}
    for condition, method in itertools.product(CONDITIONS, of_family()):
        try:
            run = study.run(method, condition)
        except NeedsFilings:
            continue
        depths.setdefault(method, {})[condition] = int(run["rank"].max())
        for question_id, ranks in gold_ranks(run, study.questions).items():
            by_id[question_id]["ranks"].setdefault(condition, {})[method] = ranks
        if condition == "standard":
            for question_id, part in run[run["rank"] <= N_TOP].groupby("question_id"):
                by_id[question_id]["top"][method] = part[["doc_name", "page"]].to_numpy(object).tolist()
    for record in _written(study):
        if record["question_id"] in by_id:
            text = {"model": record["model"]["name"], "text": record["text"][:MAX_TEXT]}
            by_id[record["question_id"]]["written"].append({"kind": record["kind"]} | text)
    known = {condition for of_method in depths.values() for condition in of_method}
    return {
        "dataset": study.dataset.name,
        "profile": study.profile.name,
        "provenance": study.provenance.strip(),
        "k": K,
        "depths": depths,
        "best": best(at_k)["method"],
        "conditions": [condition for condition in CONDITIONS if condition in known],
        "methods": [{"name": name, "title": title(name)} for name in of_family() if name in depths],
        "questions": list(by_id.values()),
    }


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    found = retrieval.gold_ranks(run, questions).fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()


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
    } | {"ranks": {}, "top": {}, "written": [], "pictures": []}


def _written(study: Study) -> list[dict]:
    """What language models wrote, the last record of each kind, question and seed; hypothetical passages last."""
    if study.has_text:
        given = read_records(study.home / "generations.jsonl", study.store.say).values()
    else:
        given = study.published.generations(study.questions)
    latest = {(record["question_id"], record["kind"], record["seed"]): record for record in given}
    return sorted(latest.values(), key=lambda one: (one["kind"] == "hyde", one["kind"], one["seed"]))


def draw_pictures(study: Study, data: dict) -> None:
    """Add small pictures of each question's gold pages, and of the best method's first page where that is another.

    Each question's ``pictures`` get ``file``, ``doc``, ``page`` and ``isGold``; filings given as text have none.
    """
    wanted, files = [], []
    for question in data["questions"]:
        places = [(question["doc"], page, True) for page in question["gold"]]
        first = question["top"].get(data["best"], [])[:1]
        places += [(doc, page, False) for doc, page in first if (doc, page, True) not in places]
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
            picture = page_raster(study.dataset.source(doc_name), page, marked, PICTURES["dpi"])
            Image.fromarray(picture).save(target / file, "WEBP", quality=PICTURES["quality"])

    params = {"dataset": study.dataset.fingerprint, "wanted": wanted, **PICTURES}
    entry = study.store.get("explorer/pictures", params, compute)
    for file in files:
        study.link(entry.path / file, f"explorer/{file}")
