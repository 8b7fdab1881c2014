"""One-off: results that were kept under hashes of code are taken over under declared keys; nothing is computed again.

``python tools/convert_store.py DATASET [--store DIR]`` looks up every published result of a dataset under its new key,
takes its files from what was published (and vectors from the store that lies at DIR, of the old layout), and fills
``artifacts/``. ``make book`` and ``make publish`` then publish the same files in the new layout. A run is taken over if
the old manifest has it; that the old keys belonged to this very dataset was checked by the old code (`make book` at
commit 5a4d4cd reports every one of them as published).
"""

import argparse
import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd

from lib.ahead.ladder import ladder_metrics
from lib.analysis.siblings import sweep
from lib.chunkings.sizes import children
from lib.data.chunks import load_tokenizer  # noqa: F401  (fails early where the environment is not the study's)
from lib.evaluation import evaluate
from lib.files import digest_of
from lib.methods import METHODS, measured
from lib.metrics import METRICS as ALL_METRICS
from lib.metrics import answers
from lib.models import cross_encoder, encoders
from lib.models.index import windows
from lib.page_scorer.measured import measurements
from lib.page_scorer.pages import page_texts
from lib.published import Published, metrics_csv
from lib.store import FRAME
from lib.studies import open_study
from lib.study import Study
from lib.words import NeedsFilings

MEASURED = sorted(set(ALL_METRICS) - {metric.name for metric in answers.METRICS})
WINDOWS, QUERIES = ("embeddings/windows",), ("embeddings/queries",)
PAGES = (("embeddings/pages", *WINDOWS), ("embeddings/page_questions", *QUERIES))
#: Which stages the old code counted as a method's cost: indexing, and preparing questions.
STAGES_OF = {
    ("splade",): (("sparse/chunks",), ("sparse/queries",)),
    ("parent_child", "fixed_128"): (("embeddings/children",), QUERIES),
    ("hyde", "multi_hyde", "multi_hyde_rerank"): (WINDOWS, ("embeddings/passages",)),
    ("page_then_chunk", "page_scorer_light", "page_scorer_light_filing"): PAGES,
    ("page_scorer", "page_scorer_filing"): (
        ("page_scorer/pages", *WINDOWS),
        ("page_scorer/questions", *QUERIES),
    ),
}


class OldPublication(Published):
    """Published results of the old layout, found by the name of their stage."""

    stages_of: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    study: Study

    def copy_entry(self, stage: str, key: str, target: Path) -> dict | None:
        """See :meth:`lib.published.Published.copy_entry`."""
        record = {old["stage"]: old for old in self.manifest["stages"]}.get(
            stage, {"wall_s": 0.0, "peak_mib": 0.0}
        )
        kind, _, place = stage.partition("/")
        if kind == "runs":
            if place not in self.manifest["runs"]:
                return None
            shutil.copyfile(self.root / f"{stage}.trec.gz", target / "run.trec.gz")
            record = record | {"asked": self._asked(*place.split("/"))}
        elif kind == "metrics":
            condition, method = place.split("/")
            rows = self.metrics_of(method, condition, MEASURED)
            if rows.empty:
                return None
            (target / "metrics.csv").write_bytes(metrics_csv(rows))
        elif (self.root / "stored" / stage).is_dir():
            for path in (self.root / "stored" / stage).glob("[!e]*"):
                shutil.copyfile(path, target / path.name)
            if stage == "siblings/alpha":
                frame = pd.read_csv(
                    target / "values.csv", dtype={"question_id": str}, float_precision="round_trip"
                )
                frame.to_parquet(target / FRAME)
                (target / "values.csv").unlink()
        else:
            return None
        return {
            "wall_s": record["wall_s"],
            "peak_mib": record["peak_mib"],
            "at": record.get("at", ""),
            "public": True,
        } | {name: record[name] for name in ("asked",) if name in record}

    def _asked(self, condition: str, name: str) -> list[str]:
        """The stages behind a run, as ``stage/key``, with the old keys where their times were recorded."""
        keys = {old["stage"]: old["key"] for old in self.manifest["stages"]}
        chain, used_runs = [name], []
        for one in chain:
            chain += [used for used in METHODS[one].uses if used not in chain]
            used_runs += [self.study.run_entry(used, condition) for used in METHODS[one].uses]
        stages = {stage for one in chain for part in self.stages_of[one] for stage in part}
        return sorted(
            {f"{s}/{keys.get(s, 'unknown')}" for s in stages} | {f"{e.stage}/{e.key}" for e in used_runs}
        )


def adopt_vectors(study: Study, store: Path) -> None:
    """Put the vectors of an old store into the cache, where the texts that they were made of are known."""
    lists = {
        "embeddings/windows": lambda: windows(study)["text"].tolist(),
        "embeddings/children": lambda: children(study)["text"].tolist(),
        "embeddings/pages": lambda: list(dict.fromkeys(page_texts(study))),
    }
    for stage, texts_of in lists.items():
        for path in (store / stage).glob("*/entry.json"):
            given, texts = json.loads(path.read_text())["params"], texts_of()
            if given["texts"] != digest_of(texts):
                continue
            rows = np.load(path.with_name("rows.npy"))
            space = {"model": given["weights"], "version": encoders.VERSION}
            space |= {name: given[name] for name in ("window", "precision", "role")}
            items: list = texts
            if stage == "embeddings/children":
                space["list"], items = digest_of(texts), [(str(row), text) for row, text in enumerate(texts)]
            row_of = {item: row for row, item in reversed(list(enumerate(items)))}
            given = lambda part, rows=rows, row_of=row_of: rows[[row_of[one] for one in part]]  # noqa: E731
            study.cache.rows(space, items, given)
            print(f"{stage}: {len(texts)} vectors taken over")


def adopt_scores(study: Study, store: Path) -> None:
    """Put the cross-encoder's scores of dense retrieval's first chunks into the cache, where the old store has them."""
    pool = study.rank_method("dense", study.candidates("standard"), study.profile.rerank.n)
    texts = study.chunks.set_index("chunk_id")["text"]
    asked = study.questions.set_index("question_id")["question"]
    pairs = [(asked[row.question_id], texts[row.chunk_id]) for row in pool.itertuples()]
    for path in (store / "rerank").glob("*.sqlite"):
        weights, window, *head = path.stem.split("-")
        known = dict(sqlite3.connect(path).execute("SELECT key, value FROM scores"))
        keys = [hashlib.sha1(f"{question}\x1f{text}".encode()).hexdigest() for question, text in pairs]
        found = {
            pair: np.frombuffer(known[key]) for key, pair in zip(keys, pairs, strict=True) if key in known
        }
        space = {
            "model": weights,
            "version": cross_encoder.VERSION,
            "window": int(window),
            "is_head": bool(head),
        }
        given = lambda part, found=found: np.stack([found[tuple(one)] for one in part])  # noqa: E731
        study.cache.rows(space, list(found), given, dtype=np.float64)
        print(f"{path.name}: {len(found)} scores taken over")


def main() -> None:
    """Take over a dataset's results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--published", type=Path, help="the old book/results/<dataset>/<profile>")
    parser.add_argument("--stages", type=Path, help="JSON of method to [index stages, query stages]")
    parser.add_argument("--store", type=Path, help="an old artifacts/store")
    args = parser.parse_args()
    study = open_study(args.dataset)
    old = OldPublication(args.published)
    old.study = study
    old.stages_of = {n: v for names, v in STAGES_OF.items() for n in names}
    if args.stages:
        old.stages_of |= {n: tuple(map(tuple, v)) for n, v in json.loads(args.stages.read_text()).items()}
    old.stages_of = {name: old.stages_of.get(name, (WINDOWS, QUERIES)) for name in METHODS}
    study.store.published = study.published = old
    if args.store:
        adopt_vectors(study, args.store)
        adopt_scores(study, args.store)
    for name, condition in measured(study.profile):
        table = evaluate(study, name, condition)
        print(
            f"{condition}/{name}: {study.run_entry(name, condition).origin}, {len(table)} values", flush=True
        )
    for take in (measurements, lambda one: ladder_metrics(one, 5), sweep):
        try:
            take(study)
        except NeedsFilings as error:
            print(f"not taken over: {error}")


if __name__ == "__main__":
    main()
