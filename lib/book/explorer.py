"""The question explorer's data: every question, the rank of its gold pages in every run, what was written, pictures.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads one JavaScript file, so
that it works from ``file://``. Nothing here is markup: the page shows every text as text.
"""

import io
import json
from pathlib import Path

import pandas as pd

from lib.book.results import read_summary
from lib.methods import of_family
from lib.metrics.retrieval import gold_pages
from lib.show.pictures import page_raster
from lib.show.tables import best, title
from lib.store import digest_of
from lib.words import CONDITIONS

K = 5
N_TOP = 5
MAX_TEXT = 2000
PICTURE_DPI, PICTURE_QUALITY, PICTURES_VERSION = 64, 55, 1
MARKUP = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def write_explorer(study) -> None:
    """Write ``explorer/data.js`` of the view and, where the filings are here, ``explorer/*.webp``."""
    data = explorer_data(study)
    if study.has_filings:
        for question_id, pictures in draw_pictures(study, data).items():
            next(item for item in data["questions"] if item["id"] == question_id)["pictures"] = pictures
    study.write("explorer/data.js", as_script(data))


def as_script(data: dict) -> str:
    """The data as a JavaScript file that stays what it is wherever it is put: no ``<``, ``>`` or ``&`` in it."""
    return f"window.EXPLORER = {json.dumps(data, ensure_ascii=False, separators=(',', ':')).translate(MARKUP)};\n"


def explorer_data(study) -> dict:
    """All that the explorer shows but the pictures, JSON-able.

    ``ranks[condition][method]`` has for each gold page the rank of its first chunk, 0 where none was retrieved;
    a run that is not there is left out; ``depths[method][condition]`` is the last rank of the run; ``top[method]`` is
    where the first chunks under ``standard`` stand.
    """
    at_k = read_summary(study).query("k == @K", local_dict={"K": K})
    runs = _runs(study)
    questions = [_question(study, question) for question in study.questions.itertuples()]
    by_id = {question["id"]: question for question in questions}
    for (method, condition), run in runs.items():
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
        "depths": {m: {c: int(run["rank"].max()) for (n, c), run in runs.items() if n == m} for m, _ in runs},
        "best": best(at_k)["method"],
        "conditions": [condition for condition in CONDITIONS if any(c == condition for _, c in runs)],
        "methods": [
            {"name": name, "title": title(name)} for name in of_family() if any(m == name for m, _ in runs)
        ],
        "questions": questions,
    }


def gold_ranks(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, list[int]]:
    """For each question, for each of its gold pages in order, the rank of the page's first chunk; 0 for none."""
    keys = ["question_id", "doc_name", "page"]
    first = run.groupby(keys, as_index=False)["rank"].min()
    found = gold_pages(questions).merge(first, on=keys, how="left").fillna({"rank": 0}).astype({"rank": int})
    return found.groupby("question_id", sort=False)["rank"].agg(list).to_dict()


def _runs(study) -> dict[tuple[str, str], pd.DataFrame]:
    """Every run that there is, by method and condition: where results were published, those that were."""
    known = study.published.manifest["runs"] if not study.has_filings else None
    wanted = [(name, condition) for condition in CONDITIONS for name in of_family()]
    return {(m, c): study.run(m, c) for m, c in wanted if known is None or f"{c}/{m}" in known}


def _question(study, question) -> dict:
    """A question's own fields; its text and answer only where the dataset is here."""
    return {
        "id": question.question_id,
        "text": question.question if study.has_filings else None,
        "answer": question.answer if study.has_filings else None,
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


def _written(study) -> list[dict]:
    """What language models wrote, the last record of each kind, question and seed."""
    path = study.view / "generations.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    latest = {(record["question_id"], record["kind"], record["seed"]): record for record in records}
    return sorted(
        latest.values(), key=lambda record: (record["kind"] == "hyde", record["kind"], record["seed"])
    )


def draw_pictures(study, data: dict) -> dict[str, list[dict]]:
    """Small pictures of each question's gold pages and of the best method's first page, where that is another.

    Returns:
        By question id: ``file``, ``doc``, ``page`` and ``isGold`` of each picture; filings given as text have none.
    """
    wanted = []
    for question in data["questions"]:
        places = [(question["doc"], page, True) for page in question["gold"]]
        first = question["top"].get(data["best"], [])[:1]
        places += [(doc, page, False) for doc, page in first if (doc, page, True) not in places]
        wanted += [
            (question["id"], *place) for place in places if study.dataset.source(place[0]).suffix == ".pdf"
        ]
    params = {
        "dataset": study.dataset.fingerprint,
        "wanted": wanted,
        "dpi": PICTURE_DPI,
        "quality": PICTURE_QUALITY,
    }

    def compute(target: Path) -> None:
        texts = study.dataset.evidence.groupby(["question_id", "page"])["text"].agg("\n".join)
        for question_id, doc_name, page, is_gold in wanted:
            marked = texts.get((question_id, page), "") if is_gold else ""
            picture = _webp(study.dataset.source(doc_name), page, marked)
            (target / _file_name(question_id, doc_name, page)).write_bytes(picture)

    entry = study.store.get("explorer/pictures", params, compute, PICTURES_VERSION)
    found: dict[str, list[dict]] = {}
    for question_id, doc_name, page, is_gold in wanted:
        file = _file_name(question_id, doc_name, page)
        study.show(entry.path / file, f"explorer/{file}")
        found.setdefault(question_id, []).append(
            {"file": file, "doc": doc_name, "page": page, "isGold": is_gold}
        )
    return found


def _file_name(question_id: str, doc_name: str, page: int) -> str:
    return f"{digest_of([question_id, doc_name, page])[:16]}.webp"


def _webp(source: Path, page: int, evidence: str) -> bytes:
    from PIL import Image

    packed = io.BytesIO()
    Image.fromarray(page_raster(source, page, evidence, PICTURE_DPI)).save(
        packed, "WEBP", quality=PICTURE_QUALITY
    )
    return packed.getvalue()
