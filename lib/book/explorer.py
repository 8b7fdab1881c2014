"""The question explorer's data: of each question set over the filings, every question and what each method found.

The explorer is a static page (``book/explorer.md``, ``book/_static/explorer.js``) that reads a JavaScript file for each
set once it is chosen, so that it works from ``file://``. The page shows every text as text.
"""

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pandas as pd

from lib.analysis.failures import missed_pages
from lib.answers.calculation import CALCULATED_STAGE, derivation
from lib.book.notebooks import read_stages
from lib.book.outcomes import add_kinds, outcomes
from lib.data.dataset import links_of
from lib.data.locate import UNSEEN, unseen_questions
from lib.data.pdf import picture
from lib.diagnose.run_file import read_docnos
from lib.diagnose.stored import stored_runs
from lib.evaluation import means_at, read_summary
from lib.files import digest_of
from lib.method_sets import TRAINED, best_standard, measured
from lib.models.written import read_records
from lib.other_sets import published_beside
from lib.published import Published
from lib.schema import Condition, K, NeedsFilings, StudyError
from lib.study import Study

MAX_TEXT = 500
PICTURES = {"dpi": 64, "quality": 55}
EFFORTS = "answers/effort/"  # stages of :func:`lib.answers.answers.efforts`, before the name of a context


def write_explorer(study: Study) -> None:
    """Write the explorer's data into ``explorer/`` of the outputs: the list of question sets, a file for each, and
    pictures where the filings are here."""
    sets = {study.dataset.name: explorer_data(study)}
    if study.has_text:
        draw_pictures(study, sets[study.dataset.name])
    sets |= {name: published_data(one) for name, one in published_beside(study).items()}
    listed = [{"name": name, "n": len(data["questions"])} for name, data in sets.items()]
    study.write("explorer/sets.js", script("window.EXPLORER", {"sets": listed, "data": {}}))
    for name, data in sets.items():
        study.write(f"explorer/{name}.js", script(f"window.EXPLORER.data[{json.dumps(name)}]", data))


def script(name: str, data: dict) -> str:
    """A name's value as JavaScript, in ASCII and without the beginning of a tag."""
    text = json.dumps(data, separators=(",", ":")).replace("<", r"\u003c")
    return f"{name} = {text};\n"


def explorer_data(study: Study) -> dict:
    """What the explorer shows of the study's own questions but the pictures, JSON-able: :func:`outcomes`, with
    ``best``, the best standard method, the kinds of failure that pages' texts tell apart, and what was written.

    Text, answer and evidence are there where the dataset is, or the repository has them. Filings whose records have a
    public address have it as ``link``.
    """
    runs = runs_of(study)
    data = outcomes(study.dataset.name, study.questions, study.filings, runs)
    questions = {question["id"]: question for question in data["questions"]}
    data["best"] = best_standard(means_at(read_summary(study.outputs), "page_recall"))
    place = {method["name"]: n for n, method in enumerate(data["methods"])}
    for method in dict.fromkeys((data["best"], *TRAINED)):
        with suppress(NeedsFilings):
            if ("standard", method) in runs:
                add_kinds(questions, place[method], missed_pages(study, method, K))
    for row in study.dataset.evidence.itertuples():
        if row.question_id in questions:
            questions[row.question_id]["evidence"].append([int(row.page), row.text])
    for question_id, text in [*calculated(study), *written(study)]:
        if question_id in questions:
            questions[question_id]["written"].append(text)
    links = links_of(study.dataset)
    for doc in data["docs"]:
        doc["link"] = links.get(doc["name"])
    return data if study.has_text else with_texts(study.dataset.name, data)


def published_data(published: Published) -> dict:
    """What the explorer shows of another question set, as published."""
    dataset = published.dataset()
    data = outcomes(dataset.name, dataset.questions, dataset.filings, published.runs)
    data["best"] = best_standard(means_at(read_summary(published.root), "page_recall"))
    return with_texts(dataset.name, data)


def with_texts(question_set: str, data: dict) -> dict:
    """The data with the texts of questions, answers and evidence that the repository has."""
    texts = unseen_questions() if question_set == UNSEEN else {}
    for question in data["questions"]:
        if one := texts.get(question["id"]):
            evidence = [[piece["evidence_page_num"], piece["evidence_text"]] for piece in one["evidence"]]
            question |= {"text": one["question"], "answer": one["answer"], "evidence": evidence}
    return data


def runs_of(study: Study) -> dict[tuple[Condition, str], pd.DataFrame]:
    """The runs that are available by condition and method, and those that were diagnosed here under their names."""
    found: dict[tuple[Condition, str], pd.DataFrame] = {}
    for method, condition in measured(study.profile):
        with suppress(NeedsFilings):
            found[condition, method] = study.run(method, condition)
    for outside in stored_runs(study):
        pages = read_docnos(outside.run_file)
        here = pages[pages["doc_name"].isin(study.filings["doc_name"])]
        found.setdefault((outside.condition, outside.name), here)
    return found


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
                [doc, page] = question["places"][top[0]]
                captions.setdefault((data["docs"][doc]["name"], page), []).append(f"first page of {method['title']}")
        for (doc, page), of in captions.items():
            if study.dataset.source(doc).suffix.lower() == ".pdf":
                file = f"{digest_of([question['id'], doc, page])[:16]}.webp"
                wanted[file] = question["id"], doc, page, of[0] == "gold page"
                question["pictures"].append({"file": file, "doc": doc, "page": page, "of": ", ".join(of)})

    def compute(target: Path) -> None:
        from PIL import Image

        texts = study.dataset.evidence.groupby(["question_id", "page"])["text"].agg("\n".join)

        def draw(file: str) -> None:
            question_id, doc_name, page, is_gold = wanted[file]
            marked = texts.get((question_id, page), "") if is_gold else ""
            with suppress(StudyError):  # a page that cannot be drawn has no picture
                drawn = picture(study.dataset.source(doc_name), page, PICTURES["dpi"], marked)
                Image.open(io.BytesIO(drawn)).save(target / file, "WEBP", quality=PICTURES["quality"])

        with ThreadPoolExecutor(2) as pool:  # each page is drawn by a process of its own
            [*pool.map(draw, wanted)]

    params = {"dataset": study.dataset.fingerprint, "wanted": [*wanted.values()], **PICTURES}
    entry = study.store.files("explorer/pictures", params, compute)
    for file in entry.names:
        study.link(entry.path / file, f"explorer/{file}")
    for question in data["questions"]:
        question["pictures"] = [one for one in question["pictures"] if one["file"] in entry.names]
