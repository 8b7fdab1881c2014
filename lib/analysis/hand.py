"""The small judge beside hand labels: 50 (question, passage) pairs, and how far judge, gold pages and hand agree.

``hand_labels.csv`` is by one reader, a far larger language model and no financial analyst, who had the question and the
passage only: not the judge's label, the gold pages, the answer or the filing. ``useful``: the passage holds something
that the answer needs. ``partly``: it is of the right company and matter, such as the head of the right statement
without the figure. ``useless``: the rest. The file holds no text. One reader's labels cannot tell how far two would
agree.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.stats import cluster_draws, clustered_bootstrap

LABELS = Path(__file__).with_name("hand_labels.csv")


def is_gold(pairs: pd.DataFrame, questions: pd.DataFrame) -> pd.Series:
    """Whether each pair's chunk lies on a gold page of its question; pairs have doc_name and page."""
    gold = {
        (row.question_id, row.doc_name, page) for row in questions.itertuples() for page in row.gold_pages
    }
    places = zip(pairs["question_id"], pairs["doc_name"], pairs["page"], strict=True)
    return pd.Series([place in gold for place in places], index=pairs.index)


def draw(pairs: pd.DataFrame, questions: pd.DataFrame, n: int = 50, seed: int = 13) -> pd.DataFrame:
    """The pairs to label: half of them on a gold page where there are enough, in an order that tells nothing.

    Args:
        pairs: question_id, chunk_id, doc_name, page; such as the first ranks of a run.
        questions: with question_id, doc_name and gold_pages.
        n: pairs drawn.
        seed: of the draw.
    """
    gold = is_gold(pairs, questions)
    n_gold = min(n // 2, int(gold.sum()))
    on_gold = pairs[gold].sample(n_gold, random_state=seed)
    others = pairs[~gold].sample(min(n - n_gold, int((~gold).sum())), random_state=seed)
    return pd.concat([on_gold, others]).sample(frac=1, random_state=seed, ignore_index=True)


def hand_labels() -> pd.DataFrame:
    """question_id, chunk_id and label (useful, partly, useless)."""
    return pd.read_csv(LABELS)


def labelled_pairs() -> pd.DataFrame:
    """The labelled pairs as a run names chunks: question_id, chunk_id, doc_name and page."""
    pairs = hand_labels()[["question_id", "chunk_id"]]
    place = pairs["chunk_id"].str.extract(r"^(?P<doc_name>.+)#p(?P<page>\d+)#c\d+$").astype({"page": int})
    return pairs.join(place)


def kappa_of(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa (1960) of 2 x 2 counts, shape (..., 2, 2); 0 where chance alone would agree always."""
    total = tables.sum(axis=(-2, -1))
    agreed = np.trace(tables, axis1=-2, axis2=-1) / total
    chance = (tables.sum(-1) * tables.sum(-2)).sum(-1) / total**2
    is_sure = np.isclose(chance, 1)
    return np.where(is_sure, 0.0, (agreed - chance) / np.where(is_sure, 1.0, 1 - chance))


def agreement_of(
    a: pd.Series, b: pd.Series, clusters: pd.Series, n_draws: int, seed: int
) -> dict[str, float]:
    """How far two yes-or-no labellings agree, with 95 % intervals that draw whole clusters.

    Returns:
        n, accuracy, accuracy_low, accuracy_high, kappa, kappa_low, kappa_high.
    """
    first, second = a.to_numpy(bool), b.to_numpy(bool)
    codes, names = pd.factorize(clusters)
    tables = np.zeros((len(names), 2, 2))
    np.add.at(tables, (codes, first.astype(int), second.astype(int)), 1)
    drawn = np.tensordot(cluster_draws(len(names), n_draws, seed), tables, axes=1)
    low, high = np.quantile(kappa_of(drawn), [0.025, 0.975])
    share = clustered_bootstrap(first == second, codes, n_draws, seed)
    return {
        "n": share.n,
        "accuracy": share.mean,
        "accuracy_low": share.low,
        "accuracy_high": share.high,
        "kappa": float(kappa_of(tables.sum(axis=0))),
        "kappa_low": float(low),
        "kappa_high": float(high),
    }


def agreement(study, judged: pd.DataFrame) -> pd.DataFrame:
    """The judge and the gold pages, each beside the hand.

    Args:
        study: gives questions and the settings ``significance``.
        judged: question_id, chunk_id, doc_name, page and ``label`` of the judge, which holds the labelled pairs.

    Returns:
        One row a labelling (``judge``: RELEVANT; ``gold page``) and a reading of the hand (``useful``: useful only;
        ``useful or partly``): see :func:`agreement_of`. The drawn pairs are half on gold pages, all pairs are not.
    """
    pairs = judged.merge(hand_labels().rename(columns={"label": "hand"}), on=["question_id", "chunk_id"])
    company = pairs["question_id"].map(study.questions.set_index("question_id")["company"])
    labellings = {"judge": pairs["label"] == "RELEVANT", "gold page": is_gold(pairs, study.questions)}
    readings = {
        "useful": pairs["hand"] == "useful",
        "useful or partly": pairs["hand"].isin(["useful", "partly"]),
    }
    settings = study.profile.significance
    rows = [
        {"labelling": name, "hand": reading}
        | agreement_of(labels, hand, company, settings.n_draws, settings.seed)
        for name, labels in labellings.items()
        for reading, hand in readings.items()
    ]
    return pd.DataFrame(rows)


def judge_measured(study, judged: pd.DataFrame) -> pd.DataFrame:
    """How often the judge says each label, and how often the chunk is on a gold page where it does.

    Returns:
        By label: n, share of all pairs, n_gold, gold_share.
    """
    gold = is_gold(judged, study.questions)
    table = gold.groupby(judged["label"]).agg(["size", "sum"]).set_axis(["n", "n_gold"], axis=1)
    return table.assign(share=table["n"] / len(judged), gold_share=table["n_gold"] / table["n"])
