"""The final page scorer: trained on every question, for use on *other* filings, with a model card.

Its scores are those of the folds, never its own: there is no question left that it has not seen.

``python -m lib.page_scorer.final --dataset financebench --target DIRECTORY`` writes it.
"""

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from lib.command import open_study, status_of, study_parser
from lib.models.weights import lock
from lib.page_scorer.full import trained, training_pairs
from lib.store import Entry, write_atomically

CARD = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
language: en
license: {licence}
base_model: {base_id}
---

# Page scorer for financial filings

A bi-encoder that ranks the pages of financial filings for a question, by cosine. It is {base} fine-tuned on
{n_pairs} (question, gold page) pairs of {n_questions} questions about {n_filings} filings of {n_companies}
companies (dataset: {dataset}).

## Intended use

To choose pages of *other* filings than those it was trained on: rank all pages, keep the best {pages}, and search
their chunks with the base encoder. It is no chunk encoder, and it is not meant for documents of another kind than
annual and quarterly reports, 8-K and earnings releases in English. Do not measure it on the questions of
{dataset}: it has seen all of them.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("path/of/this/directory")
pages = [" ".join(text.split())[:{max_characters}] for text in page_texts]
scores = model.encode_query(questions) @ model.encode_document(pages).T
```

## Training

Multiple negatives ranking loss (Henderson et al., 2017) with in-batch negatives; no gold page is ever a negative
of its own question. Learning rate {learning_rate}, batch {batch_size}, {epochs} epochs fixed beforehand, warm-up
{warmup}, seed {seed}, {max_tokens} tokens of a page's first {max_characters} characters.

## Scores

Of models trained the same way in folds, on questions that they had not seen; not of this model.

{scores}

## Data and licence

{data_licence}The base model's licence is {base_licence}.

## Limits

{n_questions} questions are few. What stands below the first {max_tokens} tokens of a page is not seen, and a scanned
page without text cannot be found.
"""
FINANCEBENCH = (
    "FinanceBench (Islam et al., 2023) is CC BY-NC 4.0, so a model trained on it is for non-commercial use. "
    "The filings are public records of their companies. "
)


def train_final(study) -> Entry:
    """The model trained on every question of the study; its directory loads with ``SentenceTransformer(path)``."""
    pairs = training_pairs(study, range(len(study.questions)))
    record = {"n_train_questions": len(study.questions), "n_train_pairs": len(pairs), "n_test_questions": 0}
    return trained(study, "page_scorer/final", pairs, record, "final model")


def model_card(study, scores: pd.DataFrame) -> str:
    """The card in Markdown.

    Args:
        study: what the model was trained on.
        scores: the folds' means as they should be printed, one row a measure.

    Raises:
        ValueError: no scores, as a card without them would invite measuring the model on its own training data.
    """
    if scores.empty:
        raise ValueError("the card needs the folds' scores; run the folds first")
    settings, name = study.profile.page_scorer, study.profile.embedder.weights
    base = lock().get(name, {"title": Path(name).name, "licence": "unknown"})
    is_financebench = study.dataset.name == "financebench"
    return CARD.format(
        **{key: value for key, value in settings.items() if key != "epochs"},
        epochs=study.profile.page_scorer.epochs,
        licence="cc-by-nc-4.0" if is_financebench else "other",
        data_licence=FINANCEBENCH if is_financebench else "",
        base=base["title"],
        base_id=(base.get("hub") or {}).get("id", base["title"]),
        base_licence=base["licence"],
        dataset=study.dataset.name,
        n_pairs=int(np.sum(study.questions["gold_pages"].map(len))),
        n_questions=len(study.questions),
        n_filings=study.questions["doc_name"].nunique(),
        n_companies=study.questions["company"].nunique(),
        scores=_markdown(scores),
    )


def _markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * table.shape[1], *table.astype(str).values.tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def export_final(study, scores: pd.DataFrame, target: Path) -> Path:
    """Copy the final model to ``target`` and lay its card beside it as ``README.md``; returns ``target``."""
    entry = train_final(study)
    shutil.copytree(entry.path, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("entry.json"))
    write_atomically(Path(target) / "README.md", model_card(study, scores).encode())
    return Path(target)


def scores_of_folds(study, k: int = 5) -> pd.DataFrame:
    """What the card prints: recall at k of both stages with intervals, by company and by filing."""
    from lib.evaluation import evaluate_all
    from lib.show.display import with_interval
    from lib.show.tables import METRIC_TITLES, summary_at

    methods = {"page_scorer": "Folds by company", "page_scorer_filing": "Folds by filing"}
    summary = summary_at(study, evaluate_all(study, methods, ["standard"]), k, ("doc_recall", "page_recall"))
    table = summary.assign(
        Measure=summary["metric"].map(METRIC_TITLES) + f" at {k}",
        folds=summary["method"].map(methods),
        value=[with_interval(row.mean, row.low, row.high) for row in summary.itertuples()],
    )
    return table.pivot(index="Measure", columns="folds", values="value").reset_index()


def main() -> int:
    """Train the final model and write it with its card."""
    parser = study_parser("lib.page_scorer.final", main.__doc__)
    parser.add_argument("--target", type=Path, required=True)
    return status_of(export, parser.parse_args())


def export(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "04_page_scorer")
    print(export_final(study, scores_of_folds(study), args.target))


if __name__ == "__main__":
    sys.exit(main())
