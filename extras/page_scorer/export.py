"""The exported page scorer: trained on every question, for use on *other* filings, with a model card.

Its scores are those of the folds, never its own: there is no question left that it has not seen.
"""

import shutil
from pathlib import Path

import pandas as pd

from lib.evaluation import evaluate_all, summary_at
from lib.metrics import METRIC_TITLES
from lib.models.weights import lock
from lib.page_scorer.full import trained, training_pairs
from lib.show.display import markdown_table, with_interval
from lib.study import Study

CARD = Path(__file__).with_name("card.md")
FINANCEBENCH = (
    "FinanceBench (Islam et al., 2023) is CC BY-NC 4.0, so a model trained on it is for non-commercial use. "
    "The filings are public records of their companies. "
)


def export_scorer(study: Study, target: Path) -> Path:
    """Write the model trained on every question to ``target``, with its card as ``README.md``; returns ``target``."""
    scores = scores_of_folds(study)
    questions, pairs = study.questions, training_pairs(study, range(len(study.questions)))
    name, is_financebench = study.profile.embedder.weights, study.dataset.name == "financebench"
    base = lock().get(name, {"title": Path(name).name, "licence": "unknown"})
    card = CARD.read_text(encoding="utf-8").format(
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
    record = {"n_train_questions": len(questions), "n_train_pairs": len(pairs), "n_test_questions": 0}
    model = trained(study, "page_scorer/final", pairs, record, "final model", {}).path
    shutil.copytree(model, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("entry.json"))
    (Path(target) / "README.md").write_text(card, encoding="utf-8")
    return Path(target)


def scores_of_folds(study: Study, k: int = 5) -> str:
    """The folds' scores for the card of the exported model, a table in Markdown: recall at k with intervals."""
    methods = {"page_scorer": "Folds by company", "page_scorer_filing": "Folds by filing"}
    metrics = evaluate_all(study, methods, ["standard"])
    summary = summary_at(study, metrics, k, ("doc_recall", "page_recall"))
    cells = [with_interval(row.mean, row.low, row.high) for row in summary.itertuples()]
    measure, folds = summary["metric"].map(METRIC_TITLES) + f" at {k}", summary["method"].map(methods)
    table = pd.DataFrame({"Measure": measure, "folds": folds, "cell": cells})
    return markdown_table(table.pivot(index="Measure", columns="folds", values="cell").reset_index(), plain=True)
