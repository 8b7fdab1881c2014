"""The leaderboard page: every row of every question set over the filings, with costs, command and run file.

The table is plain HTML, whole without a script; ``book/_static/tables.js`` sorts and filters it.
"""

import shutil
import zipfile
from pathlib import Path

import pandas as pd
from docutils.nodes import make_id

from lib.analysis.frontier import TIMES, known_table
from lib.book.templates import filled
from lib.methods import METHODS, NEEDS, OWN
from lib.published import MANIFEST, RESULTS, Published, exported_metrics, exported_run, questions_csv
from lib.show.display import number, seconds, with_interval
from lib.study import Study
from lib.typed import read_csv

K = 5
SHOWN = ("doc_recall", "page_recall")
COSTS = ["question_s", "tokens_written", "tokens_read", "pairs_scored", "index_s"]
ZIP, RUNS, EXPORTED_METRICS = "all-results.zip", "runs", "metrics.csv.gz"


def others(study: Study) -> dict[str, Published]:
    """What is published of other question sets over the same filings, by name."""
    found = {}
    for path in sorted(RESULTS.glob(f"*/{study.profile.name}/{MANIFEST}")):
        published = Published(path.parent)
        given = published.manifest
        if given.get("collection", given["dataset"]) == study.dataset.collection:
            found[given["dataset"]] = published
    found.pop(study.dataset.name, None)
    return found


def summaries(study: Study) -> dict[str, pd.DataFrame]:
    """The summary of the study, and those of :func:`others`, by name."""
    paths = {study.dataset.name: study.outputs / "summary.csv"}
    paths |= {name: published.file("summary.csv") for name, published in others(study).items()}
    return {name: read_csv(path, k="Int64") for name, path in paths.items()}


def board(study: Study) -> pd.DataFrame:
    """A row per question set and method under the standard condition, the best of a set first.

    Returns:
        set, method, title, needs (of NEEDS, with semicolons), for each of SHOWN its mean, ``_low`` and ``_high``,
        ``given`` (page recall with the filing given), n, and COSTS (NaN where they were not measured).
    """
    times, parts = known_table(study, TIMES), []
    costs = pd.DataFrame(columns=COSTS) if times is None else times.set_index("method")[COSTS]
    for name, summary in summaries(study).items():
        at_k = summary[(summary["k"] == K) & summary["method"].isin(METHODS)]
        of = {key: part.set_index("method") for key, part in at_k.groupby(["condition", "metric"])}
        rows = of["standard", "page_recall"].sort_values("mean", ascending=False, kind="stable")
        part = pd.DataFrame({"set": name, "method": rows.index}, rows.index)
        part["title"] = [METHODS[one].title for one in rows.index]
        part["needs"] = ["; ".join(METHODS[one].needs) for one in rows.index]
        for metric in SHOWN:
            values = of["standard", metric].reindex(rows.index)
            part[[metric, f"{metric}_low", f"{metric}_high"]] = values[["mean", "low", "high"]]
        given = of.get(("oracle-document", "page_recall"), rows.iloc[:0])
        part["given"], part["n"] = given["mean"].reindex(rows.index), rows["n"]
        parts.append(part.join(costs if name == study.dataset.name else costs.iloc[:0]))
    return pd.concat(parts, ignore_index=True)


def leaderboard_page(study: Study) -> str:
    """The page as MyST, with the table in HTML; its data are ``tables/leaderboard.csv``."""
    found = board(study)
    study.write("tables/leaderboard.csv", found.to_csv(index=False))
    rows = []
    for one in found.to_dict("records"):
        method = METHODS[one["method"]]
        own = one["set"] == study.dataset.name
        page = "methods" if method.family in OWN else "siblings"
        chapter = f"make notebook NB=03_baselines PARAMS='-p methods \"[{method.name}]\"'"
        other = f"make measure DATASET={study.dataset.collection} QUESTIONS={one['set']} METHODS={method.name}"
        cells = {metric: with_interval(*(one[metric + end] for end in ("", "_low", "_high"))) for metric in SHOWN}
        cells |= {"given": number(one["given"])} | {name: seconds(one[name]) for name in COSTS}
        file = f"../_static/{RUNS}/standard/{method.name}.trec.gz" if own else ""
        link = f"{page}.html#{make_id(f'method-{method.name}')}"
        rows.append(one | {"cells": cells, "link": link, "run": file, "command": chapter if own else other})
    sets = found.groupby("set", sort=False)["n"].first().items()
    return filled("leaderboard", rows=rows, sets=sets, needs=NEEDS, costs=COSTS, shown=SHOWN, k=K, zip=ZIP)


def write_downloads(study: Study, target: Path) -> None:
    """Write every run of the study into ``runs/`` of a folder, and all results as one ZIP file beside it, with those of
    other question sets that are published over the same filings, each in a folder of its name."""
    shutil.copytree(study.outputs / RUNS, target / RUNS, dirs_exist_ok=True)
    packed = {str(path.relative_to(target)): path.read_bytes() for path in (target / RUNS).rglob("*.gz")}
    packed |= gold_of(study.questions)
    for name in (EXPORTED_METRICS, "summary.csv", "manifest.json"):
        packed[name] = (study.outputs / name).read_bytes()
    for name, published in others(study).items():
        found = {
            f"{RUNS}/{'/'.join(place)}.trec.gz": exported_run(run, place[1]) for place, run in published.runs.items()
        }
        found |= gold_of(published.dataset().questions)
        found[EXPORTED_METRICS] = exported_metrics(published.metrics)
        found["summary.csv"] = published.file("summary.csv").read_bytes()
        packed |= {f"{name}/{file}": content for file, content in found.items()}
    if (times := known_table(study, TIMES)) is not None:
        packed[TIMES] = times.to_csv(index=False).encode()
    packed["README.md"] = filled("columns", study=study).encode()
    with zipfile.ZipFile(target / ZIP, "w") as archive:
        for name, content in sorted(packed.items()):
            stored = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=stored)


def gold_of(questions: pd.DataFrame) -> dict[str, bytes]:
    """``qrels.txt``, the gold pages in TREC's format, and ``questions.csv``, without text."""
    lines = []
    for one in questions.itertuples():
        lines += [f"{one.question_id} 0 {one.doc_name}#p{page:04d} 1\n" for page in one.gold_pages]
    return {"qrels.txt": "".join(lines).encode(), "questions.csv": questions_csv(questions).encode()}
