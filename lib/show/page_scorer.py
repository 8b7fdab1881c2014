"""The tables and figures of chapter 04, from its measurements and the runs' metrics."""

from collections.abc import Mapping
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lib.analysis.mistakes import HONEST, MISTAKES, added_by_mistakes
from lib.analysis.page_scorer import BEST, CHOICES, IDENTITIES, MISTAKE, PAGES, SCORERS, TRAINED
from lib.metrics.frame import Metrics
from lib.page_scorer.search import ORDERS
from lib.show.display import SHOWN_WIDTH, Column, interval, number, p_value, printed, with_interval
from lib.show.figures import COLOURS, DARK, bars
from lib.show.tables import REPORTED, N, means, reported_cell, reported_rows, title
from lib.stats import Resampling
from lib.study import Study
from lib.words import Condition

UNTRAINED = "On the fine-tuned scorer they are measured by `python -m lib mistakes`, which trains for hours."
NAMES = {"untrained": "Untrained encoder", "light": "Light map", "full": "Fine-tuned", "best": "With header"}
ASKED = "metrics-generated"  # the type of question of the published claim about the oracle
ASKED_HEAD = ", metrics"
#: Set-ups around which the differences between ours and the published one are measured: PARTS of each.
PARTS = ("scorer", "by", "order", "identity")
AROUND = {"as published": ("full", "company", "base", "none"), "repaired": ("light", "company", "page", "records")}
#: What differs between set-ups: the part, and its values without and with the difference.
DIFFERENCES = {
    "Chunks in page order": ("order", "base", "page"),
    "Chunks by the sum of both scores": ("order", "base", "sum"),
    "Filings matched by cover pages": ("identity", "none", "covers"),
    "Filings matched by records": ("identity", "none", "records"),
    "Filing given": ("identity", "none", "given"),
    "A small map in place of fine-tuning": ("scorer", "full", "light"),
    "A header before each page": ("scorer", "full", "best"),
    "Folds by filing: companies are known": ("by", "company", "filing"),
}
#: The dense search that knows as much of the filing as a set-up does: its method and condition.
RIVALS: dict[str, tuple[str, Condition]] = {
    "none": ("dense", "standard"),
    "covers": ("dense_covers", "standard"),
    "records": ("dense_records", "standard"),
    "given": ("dense", "oracle-document"),
}


def _cells(study: Study, frame: pd.DataFrame, keys: list[str]) -> pd.Series:
    values, draws = frame.set_index("item").groupby(keys, sort=False)["value"], Resampling.of(study)
    return values.agg(lambda own: with_interval(*draws.interval(own)[:3]))


def recall_table(study: Study, frame: pd.DataFrame, part: str) -> pd.DataFrame:
    """Page recall of each scorer (rows) at each number of pages kept (columns): means with intervals, and n.

    ``part`` of the measurements is ``pages`` for the kept pages themselves, or ``ablation`` for both stages, with a
    last column for chunks in the order of their pages.
    """
    columns, n = {f"P = {n_pages}": (part, n_pages) for n_pages in PAGES}, {"n": len(study.questions)}
    if part == "ablation":
        columns["In page order"] = "page order", study.profile.page_scorer.pages
    own = frame[(frame["metric"] == "page_recall") & frame["part"].isin([part, "page order"])]
    cells, rows = _cells(study, own, ["part", "scorer", "by", "k"]), []
    for scorer, by in SCORERS:
        row = {head: cells[at, scorer, by, k] for head, (at, k) in columns.items()}
        rows.append({"Page scorer": NAMES[scorer], "Folds by": by or "–"} | row | n)
    return pd.DataFrame(rows)


def kept_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.page_scorer.ablation` by pages kept, and beside it the main study's Table 6."""
    known = reported_rows(study.dataset.name, "Table 6")
    cells = _cells(study, frame.rename(columns={"question_id": "item"}), ["n_pages", "metric"]).unstack()
    reported = Column(REPORTED, "n_pages", lambda n_pages: reported_cell(known.get(f"P={n_pages}", {})))
    shown = cells.assign(n=frame["question_id"].nunique()).reset_index()
    return printed(shown, Column("P", "n_pages"), *means(shown), *([reported] if known else []), N)


def folds_table(frame: pd.DataFrame, metrics: Metrics, methods: dict[str, str], k: int) -> pd.DataFrame:
    """Page recall at k by fold, its mean and standard deviation; ``methods`` maps a method to its folds' kind."""
    rows = []
    for method, by in methods.items():
        fold = frame[(frame["part"] == "fold") & (frame["by"] == by)].set_index("item")["value"].astype(int)
        values = metrics[method, "page_recall", k]
        means = values.groupby(fold.reindex(values.index)).mean()
        spread = {"Mean": number(means.mean()), "SD": number(means.std()), "n": len(values)}
        cells = {f"Fold {n}": number(mean) for n, mean in means.items()}
        rows.append({"Method": title(method), "Folds by": by} | cells | spread)
    return pd.DataFrame(rows)


def training_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What each fold trained on, what training and test share, and how long it took."""
    keys = ["by", "item"]
    wide = frame[frame["part"] == "training"].pivot(index=keys, columns="metric", values="value")
    curve = frame[frame["part"] == "curve"].assign(item=lambda f: f["item"].str.split(":").str[0])
    wide["last_loss"] = curve.groupby(keys)["value"].last()
    return printed(
        wide.reset_index(),
        Column("Folds by", "by"),
        Column("Fold", "item"),
        Column("Questions held out", "n_questions", int),
        Column("Training pairs", "n_pairs", int),
        Column("Filings in both", "n_shared_filings", int),
        Column("Companies in both", ("n_shared_companies", "n_test_companies"), "{:.0f} of {:.0f}".format),
        Column("Nearest question", "nearest", number),
        Column("Last loss", "last_loss", number),
        Column("Minutes", "wall_s", lambda seconds: f"{seconds / 60:.0f}"),
        Column("Light steps", "light_steps", int),
    )


def curves(frame: pd.DataFrame) -> plt.Figure:
    """Mean training loss of each epoch, one line per fold, one panel per kind of folds."""
    part = frame[frame["part"] == "curve"]
    drawn, panels = plt.subplots(1, 2, figsize=(SHOWN_WIDTH, 3.2), sharey=True)
    for axes, (by, own) in zip(panels, part.groupby("by"), strict=True):
        place = own["item"].str.split(":", expand=True).astype(int)
        for fold, line in own.groupby(place[0]):
            style = {"marker": "os^Dv"[int(fold) % 5], "ms": 4, "color": COLOURS[int(fold) % len(COLOURS)]}
            axes.plot(place.loc[line.index, 1], line["value"], label=f"fold {fold}", **style)
        axes.set(xlabel="epoch", title=f"folds by {by}", ylim=(0, None))
    panels[0].set_ylabel("training loss")
    panels[1].legend(fontsize=9)
    drawn.tight_layout()
    return drawn


def tokens_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """What reading more of a page brings and costs, one row per scorer and number of tokens."""
    own, keys = frame[frame["part"] == "tokens"], ["k", "scorer"]
    is_time = own["metric"] == "wall_s"
    table = _cells(study, own[~is_time], [*keys, "metric"]).unstack("metric", sort=False)
    table["minutes"] = own[is_time].set_index(keys)["value"] / 60
    return printed(
        table.assign(n=own.loc[~is_time, "item"].nunique()).reset_index(),
        Column("Page scorer", "scorer", NAMES.get),
        Column("Tokens of a page", "k"),
        Column("Gold pages kept", "page_recall_kept"),
        Column("Page recall", "page_recall_both"),
        Column("Minutes of training", "minutes", partial(number, digits=1)),
        N,
    )


def _added(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    own = frame[frame["part"].str.startswith(MISTAKE) & (frame["metric"] == "page_recall")]
    own = own.assign(mistake=own["part"].str.removeprefix(MISTAKE), question_id=own["item"])
    parts, draws = own.groupby("scorer", sort=False), Resampling.of(study)
    return pd.concat([added_by_mistakes(part, draws).assign(scorer=name) for name, part in parts])


def mistakes_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """What each mistake adds to the honest run, one row per mistake and scorer."""
    table = _added(study, frame)
    cells = map(with_interval, table["added"], table["low"], table["high"])
    return printed(
        table.assign(cell=pd.Series(list(cells), table.index).where(table["mistake"] != HONEST, "–")),
        Column("Scorer", "scorer", NAMES.get),
        Column("Mistake", "mistake", MISTAKES.get),
        Column("Page recall", "mean", number),
        Column("Added by the mistake", "cell"),
        N,
    )


def mistakes_takeaway(study: Study, frame: pd.DataFrame) -> str:
    """For each scorer the mistake that adds most, and those whose interval lies above 0."""
    added, sentences = _added(study, frame), []
    for scorer, table in added[added["mistake"] != HONEST].groupby("scorer", sort=False):
        top = table.loc[table["added"].idxmax()]
        sure = [MISTAKES[mistake] for mistake in table.loc[table["low"] > 0, "mistake"]] or ["none"]
        sentences.append(
            f"{NAMES[scorer]}: most is added ({top['added']:+.2f}) where {MISTAKES[top['mistake']]}; "
            f"its interval is above 0 for: {'; '.join(sure)}."
        )
    if "full" not in set(added["scorer"]):
        sentences.append(UNTRAINED)
    return " ".join(sentences)


def of_setup(frame: pd.DataFrame, *parts: str, metric: str = "page_recall") -> pd.Series:
    """The values by question id of a set-up, given by its PARTS, in :func:`lib.analysis.page_scorer.setups`."""
    return frame[frame["metric"] == metric].set_index("question_id")["/".join(parts)]


def setups_table(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """Page recall, and in brackets document recall, by scorer, folds and stage two (rows) and by identity (columns)."""
    rows = []
    for (scorer, by), order in product([*TRAINED, *BEST], ORDERS):
        row = {"Page scorer": NAMES[scorer], "Folds by": by, "Stage two": ORDERS[order]}
        for identity, head in IDENTITIES.items():
            setup = scorer, by, order, identity
            both = (of_setup(frame, *setup, metric=one).mean() for one in ("page_recall", "doc_recall"))
            row[head] = "{:.2f} ({:.2f})".format(*both)
        rows.append(row | {"n": len(study.questions)})
    return pd.DataFrame(rows)


def setups_figure(study: Study, frame: pd.DataFrame, metrics: Metrics, k: int, published: float) -> plt.Figure:
    """Bars of page recall by identity and stage two, a panel per scorer with folds by company; marks show the dense
    search that knows as much of the filing (RIVALS), and a line the ``published`` page recall, NaN for none."""
    draws = Resampling.of(study)
    drawn, panels = plt.subplots(1, 3, figsize=(SHOWN_WIDTH, 4.8), sharey=True)
    rivals = [metrics[RIVALS[identity], "page_recall", k].mean() for identity in IDENTITIES]
    for axes, scorer in zip(panels, ("full", "best", "light"), strict=True):
        parts = {}
        for order, name in ORDERS.items():
            found = [draws.interval(of_setup(frame, scorer, "company", order, one)) for one in IDENTITIES]
            parts[name] = pd.DataFrame(found)
        bars(axes, parts, [*IDENTITIES.values()], COLOURS)
        places, style = np.arange(len(rivals)), {"color": DARK, "lw": 2.5}
        axes.vlines(rivals, places - 0.42, places + 0.42, label="dense, filings known likewise", **style)
        if not np.isnan(published):
            axes.axvline(published, color=DARK, ls="--", lw=1, label="published (folds by filing)")
        axes.set(title=NAMES[scorer], xlabel=f"page recall@{k}", xlim=(0, 1))
    drawn.legend(*panels[0].get_legend_handles_labels(), ncols=3, loc="upper center", fontsize=9)
    drawn.tight_layout(rect=(0, 0, 1, 0.86))
    return drawn


def differences(study: Study, frame: pd.DataFrame) -> pd.DataFrame:
    """What each of DIFFERENCES changes in page recall around each set-up of AROUND, all else equal: difference, around,
    without, with, low, high, p, p_holm (over all of them) and n."""
    own, base = {}, {}
    for (name, (part, *values)), (around, setup) in product(DIFFERENCES.items(), AROUND.items()):
        parts = dict(zip(PARTS, setup, strict=True))
        both = (of_setup(frame, *(parts | {part: value}).values()) for value in values)
        base[name, around], own[name, around] = both
    found = Resampling.of(study).compare(base, own).rename(columns={"reference_mean": "without"})
    found["with"] = [values.mean() for values in own.values()]
    found[["name", "around"]] = list(own)
    columns = ["name", "around", "without", "with", "difference", "low", "high", "n", "p", "p_holm"]
    return found.reset_index(drop=True)[columns]


def differences_table(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`differences` as printed, one row per difference."""
    shown = pd.DataFrame({"Difference in set-up": table["name"].unique()})
    for around in AROUND:
        cells = printed(
            table[table["around"] == around],
            Column(f"Recall {around}", ("without", "with"), "{:.2f} → {:.2f}".format),
            interval(f"Difference {around}", "difference", "low", "high"),
            Column(f"p (Holm), {around}", "p_holm", p_value),
        )
        shown = shown.join(cells)
    return shown.assign(n=table["n"].iloc[0])


def rivals_tests(
    study: Study, metrics: Metrics, rivals: Mapping[str, list[tuple[str, Condition]]], k: int
) -> pd.DataFrame:
    """Each method against its rivals, which are methods and conditions: page recall at k over all questions and over
    those of type ASKED, differences, and p, corrected by Holm over each column; printed but for the p."""
    pairs = [(method, rival) for method, others in rivals.items() for rival in others]
    names = [title(name) + ("" if condition == "standard" else ", filing given") for _, (name, condition) in pairs]
    shown = pd.DataFrame({"Method": [title(method) for method, _ in pairs], "Rival": names})
    own = {pair: metrics[pair[0], "page_recall", k] for pair in pairs}
    other = {pair: metrics[pair[1], "page_recall", k] for pair in pairs}
    return shown.join(_against(study, own, other)).assign(n=[*map(len, own.values())])


def metrics_table(study: Study, frame: pd.DataFrame, told: pd.Series) -> pd.DataFrame:
    """Set-ups with filings unmatched and matched by records against ``told``, on questions of type ASKED."""
    places = product([*TRAINED, *BEST], ORDERS, ("none", "records"))
    setups = [(*kind, order, identity) for kind, order, identity in places]
    own = {setup: of_setup(frame, *setup) for setup in setups}
    tests = tests_table(_against(study, own, dict.fromkeys(own, told)))
    names = [(NAMES[scorer], by, ORDERS[order], IDENTITIES[identity]) for scorer, by, order, identity in setups]
    shown = pd.DataFrame(names, columns=["Page scorer", "Folds by", "Stage two", "Filing"])
    shown = shown.join(tests[[head for head in tests if head.endswith(ASKED_HEAD)]])
    return shown.assign(n=int((study.questions["question_type"] == ASKED).sum()))


def _against(study: Study, own: Mapping, other: Mapping) -> pd.DataFrame:
    """A row per pair: the mean of its own values, their difference from the others and Holm's p, over all questions and
    over those of type ASKED."""
    kinds, shown = study.questions.set_index("question_id")["question_type"], {}
    for head, wanted in (("", kinds.unique()), (ASKED_HEAD, [ASKED])):
        part = {pair: values[kinds.reindex(values.index).isin(wanted)] for pair, values in own.items()}
        columns = [f"{name}{head}" for name in ("Mean", "Difference", "p (Holm)")]
        shown |= dict(zip(columns, ("–", "–", np.nan), strict=True))
        if all(map(len, part.values())):
            found = Resampling.of(study).compare({pair: other[pair].reindex(part[pair].index) for pair in own}, part)
            cells = map(with_interval, found["difference"], found["low"], found["high"])
            shown |= dict(zip(columns, (found["mean"].map(number).array, [*cells], found["p_holm"].array), strict=True))
    return pd.DataFrame(shown, range(len(own)))


def tests_table(tests: pd.DataFrame) -> pd.DataFrame:
    """Tests with their columns of p printed."""
    columns = [name for name in tests if name.startswith("p (Holm)")]
    return tests.assign(**{name: [*map(p_value, tests[name])] for name in columns})


def told_apart(tests: pd.DataFrame) -> dict[str, int]:
    """How many of :func:`rivals_tests` are below the level: over ``all`` questions and over ``metrics`` questions."""
    is_below = {name: tests[f"p (Holm){head}"] < 0.05 for name, head in (("all", ""), ("metrics", ASKED_HEAD))}
    return {name: int(below.sum()) for name, below in is_below.items()} | {"pairs": len(tests)}


def choices_table(study: Study, frame: pd.DataFrame, k: int) -> pd.DataFrame:
    """:func:`lib.analysis.page_scorer.choices` by who chooses the chunk, at the first page and at the first k."""
    found = frame[frame["metric"] != "several"].rename(columns={"question_id": "item"})
    cells, rows = _cells(study, found, ["choice", "metric", "k"]), []
    for choice, name in CHOICES.items():
        heads = {
            f"{head}, {'page 1' if at == 1 else f'pages 1 to {at}'}": (metric, at)
            for at in sorted({1, k})
            for metric, head in (("ctx_bleu", "BLEU"), ("ctx_rouge_l", "ROUGE-L"))
        }
        rows.append({"From each page": name} | {head: cells[choice, *key] for head, key in heads.items()})
    return pd.DataFrame(rows).assign(n=found["item"].nunique())
