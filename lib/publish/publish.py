"""The one way results get into the repository: ``make publish``.

It copies what a whole run left to ``book/results/<dataset>/<profile>/``, and refuses uncommitted changes, a run in
which something is missing, and any text of the dataset. Publishing twice from the same store gives the same
bytes: times are those that the store recorded, and nothing depends on the order in which chapters ended.
"""

import json
import shutil
from pathlib import Path

import nbformat
import pandas as pd
from PIL import Image

from lib.analysis.frontier import BENCHMARKS
from lib.book.headline import fill_headline
from lib.book.manifest import git_commit, read_summary
from lib.evaluation import read_metrics
from lib.files import ROOT, digest_of_file
from lib.methods import measured
from lib.metrics import METRICS as ALL_METRICS
from lib.metrics import answers
from lib.models.written import read_records
from lib.publish.quotes import FILING_WORDS, QUESTION_WORDS, Quotations, as_pieces, with_gaps
from lib.published import METRICS_FILE, PUBLISHED_COLUMNS, RESULTS
from lib.show.display import PAGE_COMMENT, files_of
from lib.study import Study
from lib.words import StudyError

LONG_QUOTE = 50  # words of a filing in a row that a model's answer may hold, as a citation may
MEASURED = sorted(set(ALL_METRICS) - {metric.name for metric in answers.METRICS})


def publish(study: Study, results: Path = RESULTS, readme: Path = ROOT / "README.md", say=print) -> Path:
    """Publish a study's results.

    Args:
        study: opened with the filings; ``make book`` has been run on it.
        results: where published results are kept.
        readme: gets the headline table.
        say: called with one line on what was left out.

    Returns:
        The directory of the published results.

    Raises:
        StudyError: uncommitted changes, results that are missing or not of this commit, or text of the dataset.
    """
    manifest = check_whole(study)
    target = Path(results) / study.dataset.name / study.profile.name
    aside = target.with_name(f".{target.name}.aside")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for name in (METRICS_FILE, "summary.csv"):
        shutil.copyfile(study.outputs / name, aside / name)
    if (study.home / BENCHMARKS).is_file():
        shutil.copyfile(study.home / BENCHMARKS, aside / BENCHMARKS)
    stages = [publish_entry(study, record, aside) for record in manifest["stages"]]
    write_questions(study, aside)
    quotes = quotations_of(study)
    write_generations(study, aside, quotes[1], say)
    write_shown(study, aside, quotes, say)
    write_published_manifest(manifest | {"stages": stages}, aside)
    check_texts(aside, quotes)
    shutil.rmtree(target, ignore_errors=True)
    aside.replace(target)
    if (study.dataset.name, study.profile.name) == ("financebench", "default"):
        fill_headline(readme, read_summary(study), manifest)
    return target


def check_whole(study: Study) -> dict:
    """The manifest of the outputs, of a run that may be published.

    Raises:
        StudyError: see :func:`publish`.
    """
    study.need_filings("publishing")
    again = f"run make book DATASET={study.dataset.name} PROFILE={study.profile.name} first"
    if not (study.outputs / "manifest.json").is_file():
        raise StudyError(f"there is nothing to publish; {again}")
    commit = git_commit()
    if commit.endswith("-dirty"):
        raise StudyError(
            f"uncommitted changes of the code (git status lists them); commit or remove them, {again}"
        )
    manifest = json.loads((study.outputs / "manifest.json").read_text())
    if manifest["commit"] != commit:
        raise StudyError(
            f"the results were made by commit {manifest['commit']}, the code is of {commit}; {again}"
        )
    if manifest["fingerprint"] != study.dataset.fingerprint:
        raise StudyError(f"the results were made from other files of {study.dataset.name}; {again}")
    metrics = read_metrics(study.outputs / METRICS_FILE).groupby(["condition", "method"])["question_id"].nunique()
    for name, condition in measured(study.profile):
        place, path = f"{condition}/{name}", study.outputs / "runs" / condition / f"{name}.trec.gz"
        record = manifest["runs"].get(place)
        if record is None or not path.is_file() or digest_of_file(path) != record["sha256"]:
            raise StudyError(f"the run of {name} under {condition} is missing or not the manifest's; {again}")
        if metrics.get((condition, name), 0) != len(study.questions):
            raise StudyError(f"the metrics of {name} under {condition} do not cover every question; {again}")
    return manifest


def publish_entry(study: Study, record: dict, target: Path) -> dict:
    """Copy a public entry's files, and return its record as the published manifest contains it."""
    stage, key = record["stage"], record["key"]
    origin = "published" if record["origin"] == "published" else "computed"
    published = {name: value for name, value in record.items() if name != "public"} | {"origin": origin}
    folder = study.store.root / stage / key
    if not record.get("public") or not folder.is_dir():
        return published
    files = {}
    for name, sha256 in json.loads((folder / "entry.json").read_text())["files"].items():
        kind, *place = stage.split("/")
        if kind == "metrics":
            rows = {"condition": place[0], "method": place[1], "metrics": MEASURED}
            files[name] = {"rows": rows, "sha256": sha256}
            continue
        path = f"{stage}.trec.gz" if kind == "runs" else f"stored/{stage}/{name}"
        if (target / path).exists():
            path = f"stored/{stage}-{key}/{name}"
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target / path)
        files[name] = {"path": path, "sha256": sha256}
    return published | {"public": True, "files": files}


def write_published_manifest(manifest: dict, target: Path) -> None:
    """Write ``manifest.json`` with the SHA-256 of every other published file."""
    found = [path for path in sorted(target.rglob("*")) if path.is_file()]
    files = {str(path.relative_to(target)): digest_of_file(path) for path in found}
    files.pop("manifest.json", None)
    content = json.dumps(manifest | {"files": files}, indent=1, ensure_ascii=False)
    (target / "manifest.json").write_text(content + "\n")


def write_questions(study: Study, target: Path) -> None:
    """Write ``questions.csv`` and ``filings.csv``: ids, types and page numbers."""
    pages = study.questions["gold_pages"].map(lambda gold: " ".join(map(str, gold)))
    study.questions.assign(gold_pages=pages)[PUBLISHED_COLUMNS].to_csv(target / "questions.csv", index=False)
    study.filings.to_csv(target / "filings.csv", index=False)


def quotations_of(study: Study) -> tuple[Quotations, Quotations]:
    """What must not be published: the questions' texts, and the evidence and the filings' pages."""
    evidence = study.dataset.evidence["text"]
    return (
        Quotations(study.questions["question"], FILING_WORDS),
        Quotations(pd.concat([evidence, study.pages["text"]]), FILING_WORDS),
    )


def write_generations(study: Study, target: Path, filings: Quotations, say=print) -> None:
    """Write ``generations.jsonl``: echoes of the question as references, no record that quotes a filing at length."""
    question_of = study.questions.set_index("question_id")["question"]
    doc_names = set(study.filings["doc_name"])
    n_left, lines = 0, []
    for record in sorted(read_records(study.home / "generations.jsonl", say).values(), key=_order):
        about = record["question_id"]
        is_known = about in question_of.index or about in doc_names
        if not is_known or len(filings.longest(record["text"]).split()) > LONG_QUOTE:
            n_left += 1
            continue
        if about in question_of.index:
            pieces = as_pieces(record["text"], question_of[about], QUESTION_WORDS)
            if any(not isinstance(piece, str) for piece in pieces):
                record |= {"text": with_gaps(pieces), "pieces": pieces}
        record.pop("origin", None)
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    if n_left:
        say(
            f"publish: {n_left} texts that quote a filing at length, or are of no question or filing, stay here"
        )
    if lines:
        (target / "generations.jsonl").write_text("".join(lines))


def _order(record: dict) -> tuple[str, ...]:
    return record["kind"], record["question_id"], record["key"]


def write_shown(study: Study, target: Path, quotes: tuple[Quotations, Quotations], say=print) -> None:
    """Write ``shown/``: the tables and figures of the chapters, as far as they contain no text of the dataset."""
    names = set()
    for path in sorted((study.outputs / "notebooks").glob("[0-9]*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                names |= set(files_of("".join(output.get("data", {}).get("text/markdown", ""))))
    kept = [name for name in sorted(names) if _may_be_shown(study.outputs / name, quotes)]
    for name in kept:
        (target / "shown" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(study.outputs / name, target / "shown" / name)
    say(
        f"publish: {len(kept)} tables and figures, {len(names) - len(kept)} left out: they show the dataset's text"
    )


def _may_be_shown(path: Path, quotes: tuple[Quotations, Quotations]) -> bool:
    if path.suffix == ".png":
        return Image.open(path).info.get("Comment") != PAGE_COMMENT
    return not any(known.longest(path.read_text()) for known in quotes)


def check_texts(target: Path, quotes: tuple[Quotations, Quotations]) -> None:
    """Look once more at everything that contains words.

    Raises:
        StudyError: a text of the dataset; nothing is published.
    """
    for path in sorted(target.rglob("*")):
        if path.suffix not in (".json", ".jsonl", ".csv", ".parquet") or path.name == "summary.csv":
            continue
        text = pd.read_parquet(path).to_csv() if path.suffix == ".parquet" else path.read_text()
        if str(ROOT) in text:
            raise StudyError(
                f"{path.relative_to(target)} contains a path of this machine; nothing is published"
            )
        for line in text.splitlines():
            found = quotes[0].longest(line) or ("" if path.suffix == ".jsonl" else quotes[1].longest(line))
            if found:
                where = path.relative_to(target)
                raise StudyError(
                    f"{where} contains text of the dataset: “{found[:80]}”; nothing is published"
                )
