"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads one JavaScript file, so
that it works from ``file://``. Nothing here is markup: the page shows every text as text.
"""

import json
from contextlib import suppress
from pathlib import Path

import pandas as pd

from lib.book.results import read_summary
from lib.files import digest_of
from lib.methods import of_family
from lib.metrics.frame import best
from lib.metrics.retrieval import gold_pages
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
    """Write ``explorer/data.js`` of the view and, where the filings are here, ``explorer/*.webp``."""
    data = explorer_data(study)
    with suppress(NeedsFilings):
        draw_pictures(study, data)
    study.write("explorer/data.js", as_script(data))


def as_script(data: dict) -> str:
    """The data as a JavaScript file that stays what it is wherever it is put: no ``<``, ``>`` or ``&`` in it."""
    return f"window.EXPLORER = {json.dumps(data, ensure_ascii=False, separators=(',', ':')).translate(MARKUP)};\n"


def explorer_data(study: Study) -> dict:
    """All that the explorer shows but the pictures, JSON-able.

    ``ranks[condition][method]`` has for each gold page the rank of its first chunk, 0 where none was retrieved;
    a run that is not available is left out; ``depths[method][condition]`` is the last rank of the run; ``top[method]``
    is where the first chunks under ``standard`` stand.
    """
    at_k, runs = read_summary(study).query("k == @K", local_dict={"K": K}), _runs(study)
    by_id = {question.question_id: _question(question) for question in study.questions.itertuples()}
    depths: dict[str, dict[str, int]] = {}
    for (method, condition), run in runs.items():
        depths.setdefault(method, {})[condition] = int(run["rank"].max())
        for question_id, ranks in gold_ranks(run, study.questions).items():
            by_id[question_id]["ranks"].setdefault(condition, {})[method] = ranks
        if condition == "standard":
            for question_id, part in run[run["rank"] <= N_TOP].groupby("question_id"):
                places = zip(part["doc_name"], part["page"].tolist(), strict=True)
                by_id[question_id]["top"][method] = [list(place) for place in places]
    for record in _written(study):
        if record["question_id"] in by_id:
            item = {
                "kind": record["kind"],
                "model": record["model"]["name"],
                "text": record["text"][:MAX_TEXT],
            }
            by_id[record["question_id"]]["written"].append(item)
    return {
        "dataset": study.dataset.name,
        "profile": study.profile.name,
        "provenance": study.provenance.strip(),
        "k": K,
        "depths": depths,
        "best": best(at_k)["method"],
        "conditions": [condition for condition in CONDITIONS if any(c == condition for _, c in runs)],
        "methods": [{"name": name, "title": title(name)} for name in of_family() if name in depths],
        "questions": list(by_id.values()),
    }


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    keys = ["question_id", "doc_name", "page"]
    first = run.groupby(keys, as_index=False)["rank"].min()
    found = gold_pages(questions).merge(first, on=keys, how="left").fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()


def _runs(study: Study) -> dict[tuple[str, str], pd.DataFrame]:
    """Every available run, by method and condition: without the filings those that were published."""
    runs = {}
    for condition in CONDITIONS:
        for name in of_family():
            with suppress(NeedsFilings):
                runs[name, condition] = study.run(name, condition)
    return runs


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
        "ranks": {},
        "top": {},
        "written": [],
        "pictures": [],
    }


def _written(study: Study) -> list[dict]:
    """What language models wrote, the last record of each kind, question and seed; hypothetical passages last."""
    if study.has_text:
        records = read_records(study.home / "generations.jsonl", study.store.say).values()
    else:
        records = study.published.generations(study.questions)
    latest = {(record["question_id"], record["kind"], record["seed"]): record for record in records}
    return sorted(latest.values(), key=lambda one: (one["kind"] == "hyde", one["kind"], one["seed"]))


def draw_pictures(study: Study, data: dict) -> None:
    """Add small pictures of each question's gold pages, and of the best method's first page where that is another.

    Each question's ``pictures`` get ``file``, ``doc``, ``page`` and ``isGold``; filings given as text have none.

    Raises:
        NeedsFilings: they are not here.
    """
    study.need_filings("a page's picture")
    wanted = []
    for question in data["questions"]:
        places = [(question["doc"], page, True) for page in question["gold"]]
        first = question["top"].get(data["best"], [])[:1]
        places += [(doc, page, False) for doc, page in first if (doc, page, True) not in places]
        for doc, page, is_gold in places:
            if study.dataset.source(doc).suffix == ".pdf":
                wanted.append((question["id"], doc, page, is_gold))
                file = _file_name(question["id"], doc, page)
                question["pictures"].append({"file": file, "doc": doc, "page": page, "isGold": is_gold})

    def compute(target: Path) -> None:
        from PIL import Image

        texts = study.dataset.evidence.groupby(["question_id", "page"])["text"].agg("\n".join)
        for question_id, doc_name, page, is_gold in wanted:
            marked = texts.get((question_id, page), "") if is_gold else ""
            picture = page_raster(study.dataset.source(doc_name), page, marked, PICTURES["dpi"])
            file = target / _file_name(question_id, doc_name, page)
            Image.fromarray(picture).save(file, "WEBP", quality=PICTURES["quality"])

    params = {"dataset": study.dataset.fingerprint, "wanted": wanted, **PICTURES}
    entry = study.store.get("explorer/pictures", params, compute)
    for place in wanted:
        file = _file_name(*place[:3])
        study.link(entry.path / file, f"explorer/{file}")


def _file_name(question_id: str, doc_name: str, page: int) -> str:
    return f"{digest_of([question_id, doc_name, page])[:16]}.webp"
