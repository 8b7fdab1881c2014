"""The tables of the sibling studies: their rows, results and depths, what rows cost, and the small judge."""

from collections.abc import Sequence

import pandas as pd

from lib.analysis import judged, siblings
from lib.analysis.frontier import frontier_of
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.metrics.frame import values_of
from lib.show.breakdown_tables import correlation
from lib.show.display import Column, Shown, interval, number, p_value, printed, table, with_interval
from lib.show.tables import title
from lib.study import Study

DIFFERENCE = (
    interval("Page recall: difference", "difference", "low", "high"),
    Column("from", "reference", title),
    Column("p (Holm)", "p_holm", p_value),
)
PRECISION = ("Judged by the model", "Judged by gold pages")
RELEVANCE = ("Answer relevance", "ROUGE-L with the gold answer")


def rows_table(study: Study, rows: Sequence[str], family: str, name: str) -> Shown:
    """What happens to a question in each row of a study.

    Args:
        study: whose outputs get the table.
        rows: the sibling studies' methods that are run.
        family: of the rows that are shown.
        name: of the table's label.
    """
    shown = printed(
        pd.DataFrame({"row": [METHODS[name] for name in _of(family, rows)]}),
        Column("Method", "row", lambda row: row.title),
        Column("Name", "row", lambda row: f"`{row.name}`"),
        Column("Pipeline", "row", lambda row: row.pipeline),
        Column("Source", "row", lambda row: row.citation()),
    )
    caption = f"The strategies: what happens to a question. {left_out(family, rows)}"
    return table(study, shown, f"siblings-{name}-rows", caption, plain=True)


def left_out(family: str, run: Sequence[str]) -> str:
    """A sentence on the rows of a study that the profile does not run; empty where it runs all."""
    absent = [row.title for row in METHODS.values() if row.family == family and row.name not in run]
    return f"Not run in this profile: {', '.join(absent)}." if absent else ""


def results_table(study: Study, rows: Sequence[str], metrics: pd.DataFrame, family: str, name: str) -> Shown:
    """The results of a study's rows, each beside the row that it changes; see :func:`rows_table`."""
    own = _of(family, rows)
    numbers = siblings.means(study, metrics, siblings.with_references(own))
    tested = siblings.against_reference(study, metrics, own)
    caption = (
        "Retrieval under the standard condition with 95 % intervals (bootstrap over "
        f"{study.questions['company'].nunique()} companies), n = {len(study.questions)}; page recall beside the row "
        "that each strategy changes: paired difference, randomisation test by company, Holm's correction."
    )
    shown = compared_rows(numbers, tested)
    return table(study, shown, f"siblings-{name}", caption, takeaway(tested), numbers)


def compared_rows(numbers: pd.DataFrame, tested: pd.DataFrame) -> pd.DataFrame:
    """Rows with intervals, and their page recall against the rows that they change.

    Args:
        numbers: of :func:`lib.analysis.siblings.means`.
        tested: of :func:`lib.analysis.siblings.against_reference`.
    """
    differences, shown = printed(tested, *DIFFERENCE).set_index(tested.index), []
    for name, part in numbers.groupby("method", sort=False):
        row = {"Method": title(name)}
        for found in part.itertuples():
            cell = with_interval(found.mean, found.low, found.high)
            row[f"{METRICS[found.metric].title}@{found.k}"] = cell
        row |= {
            head: differences.at[name, head] if name in tested.index else "–" for head in differences.columns
        }
        shown.append(row | {"n": part["n"].iloc[-1]})
    return pd.DataFrame(shown)


def takeaway(tested: pd.DataFrame) -> str:
    """Which rows can be told from what they change, in one sentence."""
    apart = tested[tested["distinguishable"]]
    better = ", ".join(title(name) for name in apart.index[apart["difference"] > 0]) or "none"
    worse = ", ".join(title(name) for name in apart.index[apart["difference"] < 0]) or "none"
    return f"Better than the row that they change, told from chance: {better}. Worse: {worse}."


def depths_table(study: Study, rows: Sequence[str], metrics: pd.DataFrame, family: str, name: str) -> Shown:
    """Page recall of a study's rows at several depths, and MAP@10; see :func:`rows_table`."""
    caption = f"Page recall at several depths, and mean average precision, n = {len(study.questions)}."
    shown = by_depth(metrics, _of(family, rows), study.profile.metrics.ks)
    return table(study, shown, f"siblings-{name}-depths", caption)


def by_depth(metrics: pd.DataFrame, methods: Sequence[str], ks: Sequence[int]) -> pd.DataFrame:
    """Page recall at several depths, and MAP@10."""
    columns = {f"@{k}": ("page_recall", k) for k in ks} | {"MAP@10": ("map", 10)}
    rows = []
    for name in methods:
        values = {head: values_of(metrics, name, "standard", *key) for head, key in columns.items()}
        means = {head: number(part.mean()) for head, part in values.items()}
        rows.append({"Method": title(name)} | means | {"n": len(values["MAP@10"])})
    return pd.DataFrame(rows)


def _of(family: str, rows: Sequence[str]) -> list[str]:
    return [name for name in rows if METHODS[name].family == family]


def weights_table(ways: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.siblings.ways_to_weigh` as it is printed."""
    means = [Column(head, metric, number) for metric, head in siblings.SWEPT.items()]
    return printed(ways, Column("Weight of dense", "what"), Column("α", "alpha"), *means, Column("n", "n"))


def costs_table(costs: pd.DataFrame, quality: str, n: int) -> pd.DataFrame:
    """:func:`lib.analysis.frontier.costs` as they are printed, the frontiers marked; ``≥`` where a stage's time was not
    stored."""

    def seconds(head: str, side: str, form: str) -> Column:
        names = (f"{side}_missing", f"{side}_s")
        return Column(head, names, lambda missing, value: ("≥ " if missing else "") + form.format(value))

    marked = {f"best_{side}": frontier_of(costs, side) for side in ("question", "index")}
    return printed(
        costs.assign(n=n, **marked),
        Column("Method", "method", title),
        Column(quality, "quality", number),
        seconds("Per question (s)", "question", "{:.2f}"),
        Column("On its frontier", "best_question", {True: "yes", False: "–"}.get),
        seconds("Index (s)", "index", "{:.0f}"),
        Column("On that one", "best_index", {True: "yes", False: "–"}.get),
        Column("n", "n"),
    )


def agreement_table(agreed: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.judged.agreement` as it is printed."""
    return printed(
        agreed,
        Column("Labelling", "labelling"),
        Column("Read by hand as", "hand"),
        interval("Agreement", "accuracy", "accuracy_low", "accuracy_high"),
        interval("Cohen's κ", "kappa", "kappa_low", "kappa_high"),
        Column("n", "n"),
    )


def labels_table(study: Study, pairs: pd.DataFrame) -> pd.DataFrame:
    """How often the judge gives each label, and how often the chunk then is on a gold page."""
    return printed(
        judged.judge_measured(study, pairs).reset_index(),
        Column("Label", "label", str.lower),
        Column("Pairs", "n"),
        Column("Of all pairs (%)", "share", lambda share: number(100 * share, 0)),
        Column("On a gold page", "n_gold"),
        Column("On a gold page (%)", "gold_share", lambda share: number(100 * share, 1)),
    )


def judged_table(found: pd.DataFrame, first: str, heads: Sequence[str]) -> pd.DataFrame:
    """:func:`lib.analysis.judged.compared` as it is printed: one row per name.

    Args:
        found: both measures and their correlation.
        first: head of the first column.
        heads: of the judged and of the gold measure, PRECISION or RELEVANCE.
    """
    titles = dict(zip(("judged", "gold", "correlation"), (*heads, "Rank correlation"), strict=True))
    rows = []
    for name, part in found.groupby("name", sort=False):
        cells = {titles[r.measure]: correlation(r.mean, r.low, r.high) for r in part.itertuples()}
        rows.append({first: name} | cells | {"n": part["n"].iloc[0]})
    return pd.DataFrame(rows)
