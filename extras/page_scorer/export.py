"""The exported page scorer: trained on every question, for use on *other* filings, with a model card.

Its scores are those of the folds, never its own: there is no question left that it has not seen.
"""

import shutil
from pathlib import Path

from lib.evaluation import evaluate_all
from lib.models.weights import lock
from lib.page_scorer.full import trained, training_pairs
from lib.show.display import markdown_table, with_interval
from lib.show.tables import METRIC_TITLES, summary_at
from lib.store import Entry
from lib.study import Study

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


def export_scorer(study: Study, scores: str, target: Path) -> Path:
    """Write the model trained on every question to ``target``, with its card as ``README.md``; returns ``target``.

    Raises:
        ValueError: see :func:`model_card`.
    """
    card, target = model_card(study, scores), Path(target)
    shutil.copytree(train_final(study).path, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("entry.json"))
    (target / "README.md").write_text(card)
    return target


def train_final(study: Study) -> Entry:
    """The model trained on every question of the study; its directory loads with ``SentenceTransformer(path)``."""
    pairs = training_pairs(study, range(len(study.questions)))
    record = {"n_train_questions": len(study.questions), "n_train_pairs": len(pairs), "n_test_questions": 0}
    return trained(study, "page_scorer/final", pairs, record, "final model", {})


def model_card(study: Study, scores: str) -> str:
    """The card in Markdown.

    Args:
        study: what the model was trained on.
        scores: the folds' means as a table in Markdown, see :func:`scores_of_folds`.

    Raises:
        ValueError: no scores, as a card without them would invite measuring the model on its own training data.
    """
    if not scores:
        raise ValueError("the card needs the folds' scores; run the folds first")
    name, questions = study.profile.embedder.weights, study.questions
    base = lock().get(name, {"title": Path(name).name, "licence": "unknown"})
    is_financebench = study.dataset.name == "financebench"
    return CARD.format(
        **study.profile.page_scorer,
        licence="cc-by-nc-4.0" if is_financebench else "other",
        data_licence=FINANCEBENCH if is_financebench else "",
        base=base["title"],
        base_id=(base.get("hub") or {}).get("id", base["title"]),
        base_licence=base["licence"],
        dataset=study.dataset.name,
        n_pairs=questions["gold_pages"].map(len).sum(),
        n_questions=len(questions),
        n_filings=questions["doc_name"].nunique(),
        n_companies=questions["company"].nunique(),
        scores=scores,
    )


def scores_of_folds(study: Study, k: int = 5) -> str:
    """The folds' scores for the card of the exported model, a table in Markdown: recall at k with intervals."""
    methods = {"page_scorer": "Folds by company", "page_scorer_filing": "Folds by filing"}
    metrics = evaluate_all(study, methods, ["standard"])
    summary = summary_at(study, metrics, k, ("doc_recall", "page_recall"))
    cells = [with_interval(row.mean, row.low, row.high) for row in summary.itertuples()]
    summary = summary.assign(
        Measure=summary["metric"].map(METRIC_TITLES) + f" at {k}", folds=summary["method"].map(methods), cell=cells
    )
    return markdown_table(summary.pivot(index="Measure", columns="folds", values="cell").reset_index(), plain=True)
