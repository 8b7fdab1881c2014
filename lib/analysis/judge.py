"""The small judge: its labels beside a reading by hand and the gold pages, and measures in the manner of RAGAS.

Context precision (Es et al., 2024) asks whether useful chunks come before useless ones; the gold pages answer it, too.
Answer relevance asks whether an answer fits its question; ROUGE-L with the gold answer asks whether it is right. Each
stands beside the one that knows the gold.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from lib.answers.answers import Answers, score, stored_frame
from lib.answers.prompt_context import Context
from lib.answers.relevance import answer_relevance, hand_labels, labelled_pairs
from lib.methods import METHODS
from lib.metrics.retrieval import is_gold
from lib.retrievers.judged import FIRST_STAGE, chosen, first_ranks, judged_pairs, judgements, verdicts
from lib.schema import or_without_filings
from lib.stats import Resampling, columns_of, percentiles
from lib.study import Study

USEFUL, BEHIND = "RELEVANT", "NOT LISTED"
SECTIONS = ("sibling_texts", "embedder", "generator")
COLUMNS = ["question_id", "rank", "chunk_id", "doc_name", "page", "label"]
SHOWN = ["question_id", "name", "judged", "gold"]


def _stored(
    study: Study, stage: str, make: Callable[[], pd.DataFrame], run: str = FIRST_STAGE, **params: object
) -> pd.DataFrame:
    """A frame about what the judge says of a method's standard run, published without text."""
    params |= {"questions": study.digest("questions"), "chunks": study.digest("chunks")}
    params |= {"run": study.run_entry(run).digest, "settings": study.settings_of(SECTIONS)}
    return study.store.frame(f"analysis/{stage}", params, make, public=True)


def labels_of_first(study: Study) -> pd.DataFrame:
    """The judge's labels of hybrid retrieval's first chunks: COLUMNS; stored."""
    return _stored(study, "judge-labels", lambda: judged_pairs(study)[COLUMNS])


def labels_of_selection(study: Study) -> pd.DataFrame:
    """What the selection agent listed (USEFUL) of hybrid retrieval's first chunks, and what not: COLUMNS; stored."""
    return _stored(study, "selection-labels", lambda: _selection(study))


def _selection(study: Study) -> pd.DataFrame:
    top = first_ranks(study.run(FIRST_STAGE), study.profile.sibling_texts.selection.top)
    listed = chosen(study)
    pairs = zip(top["question_id"], top["rank"], strict=True)
    return top.assign(label=[USEFUL if rank in listed.get(name, ()) else BEHIND for name, rank in pairs])[COLUMNS]


def corrections(study: Study) -> pd.DataFrame:
    """What corrective RAG did with each question: is_rewritten, is_second (the second round won), counts of labels;
    stored."""

    def make() -> pd.DataFrame:
        table = verdicts(study)
        return table.assign(is_rewritten=table["query"] != "").drop(columns="query")

    return _stored(study, "corrections", make, "crag")


def labels_of_hand_pairs(study: Study) -> pd.DataFrame:
    """The judge's labels of the pairs labelled by hand: question_id, chunk_id, doc_name, page, label; stored."""
    pairs = labelled_pairs()
    return _stored(study, "judge-labels/hand", lambda: judgements(study, pairs), pairs=pairs["chunk_id"].tolist())


def kappa_of(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa (1960) of counts, shape (..., n, n); 0 where chance alone would agree always."""
    total = tables.sum(axis=(-2, -1))
    agreed = np.trace(tables, axis1=-2, axis2=-1) / total
    chance = (tables.sum(-1) * tables.sum(-2)).sum(-1) / total**2
    is_sure = np.isclose(chance, 1)
    return np.where(is_sure, 0.0, (agreed - chance) / np.where(is_sure, 1.0, 1 - chance))


def agreement_of(draws: Resampling, a: pd.Series, b: pd.Series) -> dict[str, float]:
    """How far two yes-or-no labellings, by question_id, agree: n, and accuracy and kappa, each with the ends (``_low``,
    ``_high``) of its 95 % interval over draws of whole companies."""
    cells = pd.DataFrame({(i, j): (a == i) & (b == j) for i in (False, True) for j in (False, True)}, a.index)
    low, high = percentiles(kappa_of(draws.sums(cells).reshape(-1, 2, 2)), (0.025, 0.975))
    kappa = float(kappa_of(cells.sum().to_numpy(float).reshape(2, 2)))
    share = draws.interval((a == b).astype(float))
    return {"n": share.n} | columns_of("accuracy", share) | columns_of("kappa", (kappa, low, high))


def with_gold_pages(study: Study, labels: pd.DataFrame) -> dict[str, float]:
    """How far USEFUL ``labels`` of chunks agree with the gold pages, see :func:`agreement_of`."""
    labels = labels.set_index("question_id", drop=False)
    gold = pd.Series(is_gold(labels, study.questions).to_numpy(), labels.index)
    return agreement_of(Resampling.of(study), labels["label"] == USEFUL, gold)


def precision_of(verdicts: Sequence[bool]) -> float:
    """Context precision of verdicts v in order of rank: ``sum_j(precision@j * v_j) / sum_j(v_j)``, 0 without any."""
    is_useful = np.asarray(verdicts, float)
    precision = is_useful.cumsum() / np.arange(1, len(is_useful) + 1)
    return float((precision * is_useful).sum() / max(is_useful.sum(), 1.0))


def context_precision(study: Study, top: pd.DataFrame, is_useful: pd.Series) -> pd.Series:
    """Context precision of a run's first ranks, each with a verdict, by question id; 0 where nothing was retrieved."""
    verdicts = top.assign(is_useful=is_useful.to_numpy(bool)).sort_values(["question_id", "rank"])
    values = verdicts.groupby("question_id")["is_useful"].agg(precision_of)
    return values.reindex(study.questions["question_id"], fill_value=0.0)


def precisions(study: Study, methods: Sequence[str], k: int) -> pd.DataFrame:
    """Context precision of the first ``k`` chunks, stored: question_id, name (of the method), judged, gold (pages)."""
    parts = []
    for method in methods:
        found = _stored(study, f"context-precision/{method}", partial(_precision, study, method, k), method, k=k)
        parts.append(found.assign(name=METHODS[method].title))
    return pd.concat(parts, ignore_index=True)[SHOWN]


def _precision(study: Study, method: str, k: int) -> pd.DataFrame:
    top = first_ranks(study.run(method), k)
    judged = context_precision(study, top, judgements(study, top)["label"] == USEFUL)
    gold = context_precision(study, top, is_gold(top, study.questions))
    return pd.DataFrame({"judged": judged, "gold": gold}).rename_axis("question_id").reset_index()


def relevances(study: Study, contexts: Sequence[Context]) -> pd.DataFrame:
    """Answer relevance and ROUGE-L of answers: question_id, name (title of the context), judged, gold; stored."""
    parts = [stored_frame(study, "answers/relevance", one, _relevance).assign(name=one.title) for one in contexts]
    return pd.concat(parts, ignore_index=True)[SHOWN]


def _relevance(study: Study, written: Answers) -> pd.DataFrame:
    judged, found = answer_relevance(study, written), score(study, written)
    gold = found[found["metric"] == "answer_rouge_l"].set_index("question_id")["value"]
    frame = pd.DataFrame({"judged": judged, "gold": gold.reindex(judged.index)})
    return frame.rename_axis("question_id").reset_index()


def with_hand_labels(study: Study) -> pd.DataFrame:
    """How far the judge's labels and the gold pages agree with two readings of the labels by hand: labelling, hand (the
    labels that count as relevant) and the columns of :func:`agreement_of`."""
    labels = labels_of_hand_pairs(study)
    pairs = labels.merge(hand_labels().rename(columns={"label": "hand"}), on=["question_id", "chunk_id"])
    gold, pairs, rows = is_gold(pairs, study.questions).to_numpy(), pairs.set_index("question_id"), []
    labellings = {"judge": pairs["label"] == USEFUL, "gold page": pd.Series(gold, pairs.index)}
    readings = {"useful": ["useful"], "useful or partly": ["useful", "partly"]}
    for (name, one), (reading, values) in product(labellings.items(), readings.items()):
        found = agreement_of(Resampling.of(study), one, pairs["hand"].isin(values))
        rows.append({"labelling": name, "hand": reading} | found)
    return pd.DataFrame(rows)


def drawn_kappas(agreed: pd.DataFrame) -> pd.DataFrame:
    """The kappas of labellings (labelling, hand and the columns of :func:`agreement_of`) as lib.show.plot.dot_panels
    draws them; hollow where one of the two is the judge's."""
    kappa = agreed.reindex(columns=["kappa", "kappa_low", "kappa_high"]).set_axis(["mean", "low", "high"], axis=1)
    pairs = [(row.labelling, row.hand) for row in agreed.itertuples()]
    kappa.index = [f"{labelling} – {hand}" for labelling, hand in pairs]
    return kappa.assign(filled=[labelling == "gold page" for labelling, _ in pairs])


def measures(study: Study, methods: Sequence[str], contexts: Sequence[Context], k: int) -> pd.DataFrame:
    """Context precision at ``k`` of methods and answer relevance of contexts: measure, name, question_id, judged, gold;
    without one that would be judged now where the filings are not here."""
    made = {"context precision": lambda: precisions(study, methods, k) if methods else None}
    made["answer relevance"] = lambda: relevances(study, contexts) if contexts else None
    found = {measure: or_without_filings(make) for measure, make in made.items()}
    parts = [part.assign(measure=measure) for measure, part in found.items() if part is not None]
    return pd.concat(parts or [pd.DataFrame(columns=["measure", *SHOWN])], ignore_index=True)


def summary(measured: pd.DataFrame, draws: Resampling) -> pd.DataFrame:
    """Measures by the judge and by the gold: measure, name, n, and with their intervals the means ``judged`` and
    ``gold`` and their rank correlation over questions (``correlation``).

    Args:
        measured: measure, name, question_id, judged and gold.
    """
    rows = []
    for (measure, name), part in measured.groupby(["measure", "name"], sort=False):
        part, row = part.set_index("question_id"), {"measure": measure, "name": name, "n": len(part)}
        for one in ("judged", "gold"):
            row |= columns_of(one, draws.interval(part[one]))
        rows.append(row | columns_of("correlation", draws.rank_correlation(part["judged"], part["gold"])))
    return pd.DataFrame(rows)
