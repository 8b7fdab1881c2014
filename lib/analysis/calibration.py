"""How far measures of answers agree with people, on the labelled answers of :mod:`lib.data.labelled`.

A metric becomes a verdict by a threshold, ``answer_right`` by one of its READINGS; this choice is made on all companies
but a fold's, and judged on the fold's.

The rules of ``answer_right`` were written with eight disagreements in sight, of half of the companies; the first draft,
chosen on that half, agreed with people by 0.92 on the other one. READINGS were then narrowed from 1,440 to 28 by what
they mean, but with all labels in sight, so that the kappa of today flatters a little.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from lib.analysis.judge import agreement_of, kappa_of
from lib.answers.answers import token_encoder
from lib.data.labelled import REFUSED, RIGHT, labelled_answers, labels_digest
from lib.folds import assign_folds
from lib.keys import data_file_digests
from lib.metrics import METRIC_TITLES, right
from lib.metrics.answers import BERT_SCORE, STRING_METRICS, refusal_rule
from lib.metrics.overlap import Reference
from lib.models.vectors import encode_texts
from lib.models.weights import weights_hash
from lib.stats import Resampling
from lib.study import Study

VERSION = 1
NUMBER, YES_NO, TEXT, ALL = KINDS = ("number", "yes or no", "text", "all")
N_FOLDS = 5
THRESHOLDS = np.arange(1, 20) / 20  # of a metric from 0 to 1, fixed beforehand
ANSWER_RIGHT, YES_OR_NO, COSINE, BLEU = "answer_right", "yes_or_no", "cosine", "answer_bleu"
#: True or false, without a threshold.
CHOICELESS = "numeric_match", "numeric_match_strict", "refusal", YES_OR_NO
AGREED = "metric kind n choice accuracy kappa kappa_low kappa_high precision recall".split()
SYSTEMS = ["system", "kind", "n", "people", "measure", "declined"]
#: Titles of all metrics that are compared with people.
TITLES = METRIC_TITLES | {BLEU: "BLEU", YES_OR_NO: "Yes or no", COSINE: "Cosine (encoder)"}
BOTH_WAYS = "people judge the same figure both ways"
APART = ["people", "reason", "n"]


def kind_of(answer: str, question: str) -> str:
    """One of KINDS but ALL: a bare number, an answer that begins with yes or no, another text."""
    if right.figure(answer, question):
        return NUMBER
    return YES_NO if answer.lower().startswith(("yes", "no,", "no.", "no ")) else TEXT


def labelled(study: Study) -> pd.DataFrame:
    """LABELLED of the study, with each question's question, gold answer and kind."""
    asked = study.questions[["question_id", "question", "answer"]]
    kinds = map(kind_of, asked["answer"], asked["question"])
    return labelled_answers(study.dataset).merge(asked.assign(kind=[*kinds]))


def _stored(study: Study, name: str, make: Callable[[Study], pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of the labels, published but for ``scores``; without rows where neither the labels nor it are here."""
    known, here = {"dataset": study.dataset.fingerprint}, labels_digest(study.dataset)
    labels = study.store.frame("digests/labels", known, (lambda: here) if here else None, public=True)
    found = None
    if labels is not None:
        params = {"labels": here or labels, "embedder": weights_hash(study.profile.embedder.weights)}
        params |= known | study.settings_of(("significance",)) | data_file_digests("answers")
        compute = partial(make, study) if here else None
        found = study.store.frame(f"analysis/labels-{name}", params, compute, VERSION, public=name != "scores")
    return pd.DataFrame(columns=columns) if found is None else found


def scores(study: Study) -> pd.DataFrame:
    """What every metric, and each of READINGS, gives every labelled answer; stored on this machine and not
    published."""
    return _stored(study, "scores", _scores, ())


def _scores(study: Study) -> pd.DataFrame:
    table = labelled(study)
    triples = list(table[["prediction", "answer", "question"]].itertuples(index=False))
    columns = {one.name: [float(one.function(*triple)) for triple in triples] for one in STRING_METRICS}
    columns[BLEU] = [Reference(answer).bleu(written) for written, answer, _ in triples]
    columns[YES_OR_NO] = [float(right.same_side(written, answer)) for written, answer, _ in triples]
    texts = [*table["prediction"], *table["answer"]]
    written, gold = np.split(encode_texts(study, "embeddings/labelled", texts), 2)
    columns[COSINE] = np.einsum("ij,ij->i", written, gold)
    columns[BERT_SCORE.name] = _bert_scores(study, table)
    pairs = [*zip(table["kind"], triples, strict=True)]
    for number, by in enumerate(right.READINGS):
        columns[f"reading {number}"] = [kind == NUMBER and right.answer_right(*one, by) for kind, one in pairs]
    return pd.concat([table[["system", "question_id", "kind", "label"]], pd.DataFrame(columns)], axis=1)


def _bert_scores(study: Study, table: pd.DataFrame) -> np.ndarray:
    encoder, found = token_encoder(study), pd.Series(0.0, table.index)
    golds = table["answer"].unique().tolist()
    gold = dict(zip(golds, encoder.encode_tokens(golds), strict=True))
    for _, part in table.groupby("system"):  # the token vectors of all systems at once would fill the memory
        pairs = zip(encoder.encode_tokens(part["prediction"].tolist()), part["answer"].map(gold), strict=True)
        found[part.index] = [BERT_SCORE.function(*pair) for pair in pairs]
    return found.to_numpy()


def verdicts(table: pd.DataFrame, metric: str) -> tuple[np.ndarray, list[str]]:
    """What each choice of a metric says of every answer, boolean of shape (n_choices, n), and the choices in words."""
    if metric == ANSWER_RIGHT:
        names = [f"{place}, {digits:g} digit or {share:.1%}" for place, (digits, share) in right.READINGS]
        return table[[f"reading {number}" for number in range(len(names))]].to_numpy(bool).T, names
    values = table[metric].to_numpy(float)
    if metric in CHOICELESS:
        return (values[None] > 0) ^ (metric == "refusal"), ["–"]
    return values >= THRESHOLDS[:, None], [f"{threshold:g}" for threshold in THRESHOLDS]


def kappas(verdicts: np.ndarray, is_right: np.ndarray) -> np.ndarray:
    """Cohen's kappa of each choice's verdicts, shape (n_choices, n), with people's, shape (n,)."""
    cells = [[((verdicts == i) & (is_right == j)).sum(axis=1) for j in (False, True)] for i in (False, True)]
    return kappa_of(np.moveaxis(np.array(cells, float), -1, 0))


def held_out(verdicts: np.ndarray, is_right: np.ndarray, groups: pd.Series, seed: int) -> np.ndarray:
    """The verdicts of the choice with the highest kappa on the other folds' answers; no group is in two folds."""
    fold_of, found = assign_folds(groups.tolist(), N_FOLDS, seed), np.zeros(len(is_right), bool)
    for fold in np.unique(fold_of):
        is_test = fold_of == fold
        found[is_test] = verdicts[kappas(verdicts[:, ~is_test], is_right[~is_test]).argmax(), is_test]
    return found


def agreement(study: Study) -> pd.DataFrame:
    """AGREED of every metric and kind of question, on held-out companies; ``choice``: the one that all labels give."""
    return _stored(study, "agreement", _agreement, AGREED)


def _agreement(study: Study) -> pd.DataFrame:
    whole, draws, rows = scores(study), Resampling.of(study), []
    metrics = [name for name in whole.columns[4:] if not name.startswith("reading")]
    pairs = [(ANSWER_RIGHT, NUMBER), *((name, kind) for kind in KINDS for name in metrics)]
    for metric, kind in [pair for pair in pairs if pair[0] != YES_OR_NO or pair[1] == YES_NO]:
        table = whole if kind == ALL else whole[whole["kind"] == kind]
        if table["question_id"].map(draws.company).nunique() < 2:
            continue  # nothing could be held out
        is_right = table["label"].eq(RIGHT).set_axis(table["question_id"])
        by_choice, names = verdicts(table, metric)
        company = draws.company.reindex(is_right.index)
        found = pd.Series(held_out(by_choice, is_right.to_numpy(), company, draws.seed), is_right.index)
        both, choice = (found & is_right).sum(), names[kappas(by_choice, is_right.to_numpy()).argmax()]
        shares = {"precision": both / max(found.sum(), 1), "recall": both / max(is_right.sum(), 1)}
        row = {"metric": metric, "kind": kind, "choice": choice} | agreement_of(draws, found, is_right)
        rows.append(row | shares)
    return pd.DataFrame(rows, columns=AGREED)


def systems(study: Study) -> pd.DataFrame:
    """SYSTEMS: the share of right answers by people and, of numbers, by ``answer_right``; and of those that decline."""
    return _stored(study, "systems", _systems, SYSTEMS)


def _systems(study: Study) -> pd.DataFrame:
    table = scores(study)
    measure = table[f"reading {right.READINGS.index(right.READING)}"].astype(float)
    table = table.assign(people=table["label"] == RIGHT, declined=table["label"] == REFUSED, measure=measure)
    parts = [table[table["kind"] == NUMBER], table.assign(kind=ALL, measure=np.nan)]
    of = pd.concat(parts).groupby(["system", "kind"], sort=False)
    return of[["people", "measure", "declined"]].mean().assign(n=of.size()).reset_index()[SYSTEMS]


def reason(row: tuple) -> str:
    """Why ``answer_right`` and people differ on an answer of :func:`apart`: the first that holds."""
    if row.is_disputed:
        return BOTH_WAYS
    if row.label == REFUSED or refusal_rule(row.prediction):
        return "it declines, or is taken to, and states a figure"
    return "as far off as is allowed" if row.measure else "the figure is not in the sentence that counts"


def apart(study: Study) -> pd.DataFrame:
    """APART: answers on whose number ``answer_right`` and people differ, by label and :func:`reason`."""
    return _stored(study, "apart", _apart, APART)


def _apart(study: Study) -> pd.DataFrame:
    table = labelled(study).query("kind == @NUMBER")
    given = [(row.prediction, row.answer, row.question) for row in table.itertuples()]
    last = [right.concluded(one[0], one[2]) for one in given]
    table = table.assign(
        measure=[right.answer_right(*one) for one in given],
        people=table["label"] == RIGHT,
        figure=[found[-1][-1].value if found else np.nan for found in last],
    )
    n_labels = table.groupby(["question_id", "figure"])["people"].transform("nunique")
    wrong = table.assign(is_disputed=n_labels > 1)[table["measure"] != table["people"]]
    reasons = [reason(row) for row in wrong.itertuples()]
    sizes = wrong.assign(people=wrong["label"], reason=reasons).groupby(["people", "reason"]).size()
    return sizes.rename("n").reset_index().sort_values("n", ascending=False, kind="stable")[APART]


def panels(agreed: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The kappas of :func:`agreement` by kind of gold answer, as lib.show.plot.dot_panels draws them: a row per metric
    (NaN where it is not measured of a kind), and ``filled`` for the best of each kind."""
    found, metrics = {}, agreed["metric"].unique()
    for kind, part in agreed[agreed["kind"] != ALL].groupby("kind", sort=False):
        kappa = part.set_index("metric")[["kappa", "kappa_low", "kappa_high"]].reindex(metrics)
        kappa = kappa.set_axis(["mean", "low", "high"], axis=1)
        found[f"κ, {kind} (n = {part['n'].max()})"] = kappa.assign(filled=kappa["mean"] == kappa["mean"].max())
    return found


#: Part of a labelled system's name: what it was given with the question.
GIVEN = {"closedBook": "no filing", "Store": "a search", "inContext": "the whole filing", "oracle": "the gold pages"}


def given_to(system: str) -> str:
    """What a labelled system was given with the question, one of GIVEN's values, or nothing where its name lacks it."""
    return next((given for part, given in GIVEN.items() if part in system), "")
