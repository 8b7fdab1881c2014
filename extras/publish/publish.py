"""The one way results get into the repository: ``make publish``.

It copies what a whole run left to ``book/results/<dataset>/<profile>/``, and refuses uncommitted changes, a run in
which something is missing, and any text of the dataset. Publishing twice from the same store gives the same
bytes: times are those that the store recorded, and nothing depends on the order in which chapters ended.
"""

import gzip
import hashlib
import json
import re
import shutil
from operator import itemgetter
from pathlib import Path

import nbformat
import pandas as pd
from PIL import Image

from extras.publish.quotes import FILING_WORDS, GAP, Quotations, as_pieces, states, text_of, with_gaps
from extras.publish.readme import fill_headline
from lib import published
from lib.analysis.growth import COSTS, ENGINES, GROWTH, STORES
from lib.analysis.measured import TIMES, known_file
from lib.book.environment import UNKNOWN, git_commit
from lib.book.manifest import STAGE_FIELDS, run_sha256
from lib.book.notebooks import chapters
from lib.evaluation import SUMMARY, SUMMARY_FILE, in_order, read_metrics
from lib.files import MANIFEST, RESULTS, ROOT, digest_of_file, read_json
from lib.frames import table_bytes
from lib.method_sets import measured
from lib.metrics.pooled import FOLDER
from lib.models.written import read_records
from lib.page_scorer.full import finished_folds
from lib.schema import StudyError
from lib.show.output import PAGE_COMMENT
from lib.study import GENERATIONS, Study

SHOWN = re.compile(r"\.\./((?:tables|figures)/[\w.-]+)")  # in a cell's markdown
BESIDE = (published.ANSWERS_FILE, TIMES, GROWTH, STORES, COSTS, ENGINES)  # published where they are here
OF_RUNS = {"runs": "key", "metrics": "metrics"}  # stages to what the manifest's runs name their keys
WHOLE_BOOKS = ("financebench", "demo")  # of other sets runs and metrics may be published alone
LONG_QUOTE = 50  # words of a filing in a row that a model's answer may hold, as a citation may


def publish(study: Study, results: Path = RESULTS, readme: Path = ROOT / "README.md", say=print) -> Path:
    """Publish a study's results, of which ``make book`` or ``make measure`` has been run; gives their directory.

    Raises:
        StudyError: uncommitted changes, results that are missing or not of this commit, or text of the dataset.
    """
    manifest = check_whole(study)
    target = Path(results) / study.dataset.name / study.profile.name
    draft = target.with_name(f".{target.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    metrics = read_metrics(study.outputs / published.METRICS_FILE)
    parts = [in_order(part, study.questions) for _, part in metrics.groupby(["condition", "method"])]
    places = [place.split("/") for place in sorted(manifest["runs"])]
    runs = pd.concat(study.run(m, c).assign(condition=c, method=m) for c, m in places)
    runs = published.by_question(runs[published.RUNS_STORED].astype({"rank": "int16"}), study.questions)
    (draft / published.METRICS_FILE).write_bytes(table_bytes(pd.concat(parts)))
    (draft / published.RUNS_FILE).write_bytes(table_bytes(runs))
    (draft / "questions.csv").write_bytes(published.questions_csv(study.questions).encode())
    study.filings.to_csv(draft / "filings.csv", index=False)
    for path in copied_files(study, target, manifest):
        shutil.copyfile(path, draft / path.name)
    if (judged := FOLDER / f"{study.dataset.name}.csv").is_file():
        shutil.copyfile(judged, draft / "pooled_gold.csv")
    stages = [publish_entry(study, record, draft, manifest) for record in [*manifest["stages"], *finished_folds(study)]]
    quotes = quotations_of(study)
    write_generations(study, draft, quotes, say)
    write_shown(study, draft, quotes, say)
    files = {name: digest_of_file(path) for name, path in files_of(draft).items()}
    content = json.dumps(manifest | {"stages": stages, "files": files}, indent=1, ensure_ascii=False)
    (draft / MANIFEST).write_text(content + "\n", encoding="utf-8")
    check_texts(draft, quotes)
    shutil.rmtree(target, ignore_errors=True)
    draft.replace(target)
    if (study.dataset.name, study.profile.name) == ("financebench", "default"):
        fill_headline(readme, study, published.Published(target))
    return target


def copied_files(study: Study, target: Path, manifest: dict) -> list[Path]:
    """The summary, and what was measured once (BESIDE): here, or as it was published of the same dataset."""
    paths, before = [study.outputs / SUMMARY_FILE], target / MANIFEST
    is_same = before.is_file() and read_json(before)["fingerprint"] == manifest["fingerprint"]
    for name in BESIDE:
        path = known_file(study, name) or (target / name if is_same else None)
        paths += [path] if path and path.is_file() else []
    return paths


def files_of(root: Path) -> dict[str, Path]:
    """Everything below a folder but folders, by its path there; links are not followed."""
    paths = (path for path in sorted(root.rglob("*")) if path.is_symlink() or not path.is_dir())
    return {str(path.relative_to(root)): path for path in paths}


def check_whole(study: Study) -> dict:
    """The manifest of the outputs, of a run that may be published; errors as of :func:`publish`."""
    study.need_filings("publishing")
    name, dataset, path = study.dataset.name, study.dataset.collection, study.outputs / MANIFEST
    is_book = name in WHOLE_BOOKS or (study.outputs / "notebooks").is_dir()
    target = "book" if is_book else "measure"
    dataset += f" QUESTIONS={name}" if name != dataset else ""
    commit, manifest, wrong = git_commit(), read_json(path) if path.is_file() else {}, ""
    if not manifest:
        wrong = "there is nothing to publish"
    elif commit.startswith(UNKNOWN):
        wrong = "there is no git here, or no repository, so that no commit would name the code"
    elif commit.endswith("-dirty"):
        wrong = "uncommitted changes of the code (git status lists them); commit or remove them"
    elif manifest["commit"] != commit:
        wrong = f"the results were made by commit {manifest['commit']}, the code is of {commit}"
    elif manifest["fingerprint"] != study.dataset.fingerprint:
        wrong = f"the results were made from other files of {name}"
    else:
        metrics = read_metrics(study.outputs / published.METRICS_FILE)
        counts = metrics.groupby(["condition", "method"])["question_id"].nunique()
        for method, condition in measured(study.profile):
            record = manifest["runs"].get(f"{condition}/{method}")
            if record is None or run_sha256(study, method, condition) != record["sha256"]:
                wrong = f"the run of {method} under {condition} is missing or not the manifest's"
            elif counts.get((condition, method), 0) != len(study.questions):
                wrong = f"the metrics of {method} under {condition} do not cover every question"
    if wrong:
        raise StudyError(f"{wrong}; run make {target} DATASET={dataset} PROFILE={study.profile.name} first")
    return manifest


def publish_entry(study: Study, record: dict, target: Path, manifest: dict) -> dict:
    """Copy a public entry's files, compressed, and return its record as the published manifest contains it.

    Runs and their metrics have no files of their own: they are in the tables of all runs, or under another key.
    """
    stage, key = record["stage"], record["key"]
    about = {name: record[name] for name in STAGE_FIELDS if name in record and name != "public"}
    about["origin"] = "published" if record["origin"] == "published" else "computed"
    kind, _, place = stage.partition("/")
    is_row = kind in OF_RUNS and manifest["runs"].get(place, {}).get(OF_RUNS[kind]) == key
    entry = study.store.entry(stage, key) if record.get("public") else None
    if entry is None or (kind in OF_RUNS and not is_row):
        return about
    if is_row:
        return about | {"public": True, "files": {}}
    if stage == SUMMARY:
        file = {"path": SUMMARY_FILE, "sha256": digest_of_file(target / SUMMARY_FILE)}
        return about | {"public": True, "files": {SUMMARY_FILE: file}}
    folder, files = target / "stored" / stage, {}
    folder = folder if not folder.exists() else folder.with_name(f"{folder.name}-{key}")
    folder.mkdir(parents=True)
    for name in entry.names:
        content, is_packed = entry.read(name), name.endswith((".gz", ".npz"))
        path = folder / (name if is_packed else f"{name}.gz")
        path.write_bytes(content if is_packed else gzip.compress(content, mtime=0))
        files[name] = {"path": str(path.relative_to(target)), "sha256": hashlib.sha256(content).hexdigest()}
    return about | {"public": True, "files": files}


def quotations_of(study: Study) -> tuple[Quotations, Quotations]:
    """What must not be published: the questions' texts, and the evidence and the filings' pages."""
    filings = pd.concat([study.dataset.evidence["text"], study.pages["text"]])
    return Quotations(study.questions["question"], FILING_WORDS), Quotations(filings, FILING_WORDS)


def write_generations(study: Study, target: Path, quotes: tuple[Quotations, Quotations], say=print) -> None:
    """Write ``generations.jsonl.gz``: echoes of the question as references, no record that quotes another question,
    or a filing at length. What is shown of a text with echoes is a gap where it still states the answer."""
    question_of, answer_of = study.questions.set_index("question_id")[["question", "answer"]].to_dict().values()
    ids, lines = {*question_of, *study.filings["doc_name"]}, []
    records = read_records(study.home / GENERATIONS).values()
    for record in sorted(records, key=itemgetter("kind", "question_id", "key")):
        about = record["question_id"]
        if about not in ids or len(quotes[1].longest(record["text"]).split()) > LONG_QUOTE:
            continue
        pieces = as_pieces(record["text"], question_of[about]) if about in question_of else []
        if any(not isinstance(piece, str) for piece in pieces):
            shown = with_gaps(pieces)
            is_stated = states(shown, answer_of[about], question_of[about])
            record |= {"text": GAP if is_stated else shown, "pieces": pieces}
        record.pop("origin", None)
        line = json.dumps(record, ensure_ascii=False) + "\n"
        lines += [line] if not quotes[0].longest(line) else []
    if n_left := len(records) - len(lines):
        which = "that quote a filing at length or another question, or are of no question or filing"
        say(f"publish: {n_left} texts {which}, stay here")
    if lines:
        (target / published.GENERATIONS_FILE).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def write_shown(study: Study, target: Path, quotes: tuple[Quotations, Quotations], say=print) -> None:
    """Write ``shown/``: the tables and figures of the chapters, as far as they contain no text of the dataset."""
    names, n_left = set(), 0
    executed = (study.outputs / "notebooks" / f"{name}.ipynb" for name in chapters())
    for path in filter(Path.is_file, executed):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                names |= set(SHOWN.findall("".join(output.get("data", {}).get("text/markdown", ""))))
    for name in sorted(names):
        path, shown = study.outputs / name, target / "shown" / name
        if path.suffix == ".png":
            is_quoting = Image.open(path).info.get("Comment") == PAGE_COMMENT
        else:
            is_quoting = any(texts.longest(text_of(path)) for texts in quotes)
        n_left += is_quoting
        if not is_quoting:
            shown.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, shown)
    say(f"publish: {len(names) - n_left} tables and figures, {n_left} left out: they show the dataset's text")


def check_texts(target: Path, quotes: tuple[Quotations, Quotations]) -> None:
    """Look once more at everything that contains words; a text of the dataset is a StudyError."""
    for where, path in files_of(target).items():
        name = path.name.removesuffix(".gz")
        if not name.endswith((".json", ".jsonl", ".csv", ".svg")) or name == SUMMARY_FILE:
            continue
        text, forbidden = text_of(path), quotes[:1] if name.endswith(".jsonl") else quotes
        if str(ROOT) in text:
            raise StudyError(f"{where} contains a path of this machine; nothing is published")
        for quote in (texts.longest(line) for line in text.splitlines() for texts in forbidden):
            if quote:
                raise StudyError(f"{where} contains text of the dataset: “{quote[:80]}”; nothing is published")
