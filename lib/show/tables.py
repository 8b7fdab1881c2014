"""The tables of retrieval: our numbers with n and intervals, beside what is reported, and step by step."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from lib.analysis.experiments import ASKED, VARIANTS
from lib.analysis.facts import MAIN, Rows, facts
from lib.evaluation import summarise, summary_at
from lib.files import read_yaml
from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.metrics.frame import HEADLINE, Metrics, best
from lib.metrics.retrieval import page_recall
from lib.show.display import MEAN, Column, number, p_value, percent, printed, seconds, wide, with_interval
from lib.stats import Resampling
from lib.study import Study
from lib.words import IN_WORDS, Condition

__all__ = ["HEADLINE", "METRIC_TITLES", "best", "summary_at"]  # for the chapters
REPORTED = "Reported: document / page / BLEU / ROUGE-L"


def reported_rows(dataset: str, table: str, source: str = MAIN) -> Rows:
    """The rows of one reported table by the paper's names; empty for datasets other than FinanceBench."""
    return facts(source).table(table) if dataset == "financebench" else {}


def reported_runs(dataset: str) -> dict[tuple[str, Condition], dict]:
    """What the main study reports of the runs that are ours too, by method and condition: its Table 3 and, for dense
    retrieval under the oracles, Table 2; empty as :func:`reported_rows` is."""
    known = facts().by_method("Table 3") if dataset == "financebench" else {}
    runs = {(method, "standard"): cells for method, cells in known.items()}
    return runs | {("dense", oracle): row for oracle, row in reported_rows(dataset, "Table 2").items()}


def reported_columns(dataset: str) -> list[Column]:
    """The column of :func:`reported_runs` for rows with a method and a condition, or no column where there are none."""
    known = reported_runs(dataset)
    cell = Column(REPORTED, ("method", "condition"), lambda *run: reported_cell(known.get(run, {})))
    return [cell] if known else []


def title(method: str) -> str:
    """A method's title."""
    return METHODS[method].title


METHOD, N = Column("Method", "method", title), Column("n", "n")
#: What makes a cell of the columns that ``tables.yaml`` names.
FORMS = {
    "number": number,
    "signed": "{:+.2f}".format,
    "whole": partial(number, digits=0),
    "count": lambda value: f"{value:,.0f}" if value else "–",
    "percent": percent,
    "percent_1": partial(percent, digits=1),
    "p": p_value,
    "interval": with_interval,
    "digits_3": partial(number, digits=3),
    "seconds": "{:.3f} [{:.3f}, {:.3f}]".format,
    "seconds_short": seconds,
    "signed_interval": lambda *given: "–" if pd.isna(given[0]) else "{:+.2f} [{:+.2f}, {:+.2f}]".format(*given),
    "rises": "{:.2f}\u00a0→\u00a0{:.2f}".format,
    "is": {True: "yes", False: "no"}.get,
    "mark": {True: "yes", False: "–"}.get,
    "method": title,
    "shares": lambda chosen: "; ".join(
        f"{title(name)} {share:.0%}" for name, share in [*chosen.items()][:3] if share >= 0.01
    ),
    "metric": METRIC_TITLES.get,
    "lower": str.lower,
}
TABLES = read_yaml(Path(__file__).with_suffix(".yaml"))


def as_table(frame: pd.DataFrame, name: str, **heads: str) -> pd.DataFrame:
    """A frame as the table of this name in ``tables.yaml`` is printed; ``heads`` fill in its headings."""
    columns = []
    for head, given in TABLES[name].items():
        form, *names = given if isinstance(given, list) else (None, given)
        columns.append(Column(head.format(**heads), tuple(names), form and FORMS[form]))
    return printed(frame, *columns)


def means(shown: pd.DataFrame) -> list[Column]:
    """The columns of the headline metrics that were measured: without evidence texts there is no overlap with them."""
    return [Column(METRIC_TITLES[metric], metric) for metric in HEADLINE if metric in shown]


def metric_cells(part: pd.DataFrame) -> dict[str, str]:
    """Title of each headline metric to its mean with interval, of the summary of one run."""
    rows = part.set_index("metric")[["mean", "low", "high"]]
    known = [metric for metric in HEADLINE if metric in rows.index]
    return {METRIC_TITLES[metric]: with_interval(*rows.loc[metric]) for metric in known}


def reported_cell(reported: dict) -> str:
    """The reported figures in the order of HEADLINE, dashes where one is not reported."""
    return " / ".join(number(reported.get(metric, float("nan"))) for metric in HEADLINE) if reported else "–"


def methods_table(names: Iterable[str]) -> pd.DataFrame:
    """What happens to a question in each method, and whose idea it is; cells are markup."""
    rows = [(row.title, f"`{row.name}`", row.pipeline, row.citation()) for row in (METHODS[name] for name in names)]
    return pd.DataFrame(rows, columns=["Method", "Name", "Pipeline", "Source"])


def results_table(study: Study, summary: pd.DataFrame, condition: str, methods: Iterable[str]) -> pd.DataFrame:
    """One row per method: our means with intervals, what the main study reports (:func:`reported_runs`), and n."""
    shown = wide(summary[summary["condition"] == condition], ["method"]).loc[[*methods]].reset_index()
    return printed(shown, METHOD, *means(shown), *reported_columns(study.dataset.name), N)


def given_table(study: Study, summary: pd.DataFrame, methods: Iterable[str]) -> pd.DataFrame:
    """One row per method: document recall over all filings, and page recall under each condition that was summarised,
    beside what is reported of it over all filings and with the filing given."""
    of = {key: part.set_index("method") for key, part in summary.groupby(["condition", "metric"])}
    names, known = list(methods), reported_runs(study.dataset.name)
    shown = pd.DataFrame({"Method": map(title, names)})
    columns = [("doc_recall", "standard", "Document recall, all filings")]
    columns += [("page_recall", condition, f"Page recall, {head}") for condition, head in IN_WORDS.items()]
    for metric, condition, head in columns:
        if (condition, metric) in of:
            shown[head] = printed(of[condition, metric].loc[names], MEAN)["Mean"].array
    if known:
        pages = {run: number(cells["page_recall"]) for run, cells in known.items()}
        cells = [[pages.get((name, one), "–") for one in ("standard", "oracle-document")] for name in names]
        joined = [" / ".join(pair) if set(pair) != {"–"} else "–" for pair in cells]
        shown["Reported page recall, all / given"] = joined
    return shown


def recall_at(study: Study, metrics: Metrics, methods: Iterable[str]) -> pd.DataFrame:
    """Document and page recall at every depth that was measured, with intervals: method, metric, k, mean, low, high."""
    rows = metrics.frame
    wanted = rows["metric"].isin(["doc_recall", "page_recall"]) & rows["method"].isin(list(methods))
    found = summarise(rows[wanted & (rows["condition"] == "standard")], Resampling.of(study))
    return found[["method", "metric", "k", "mean", "low", "high"]].sort_values(["method", "metric", "k"])


def budget_table(curves: pd.DataFrame) -> pd.DataFrame:
    """Page recall of :func:`lib.analysis.budgets.curves`: a row per method, a column per budget, a dash where it is not
    known."""
    pages = curves[curves["metric"] == "page_recall"]
    shown = wide(pages.assign(head=pages["budget"].map("{:,} tokens".format)), ["method"], heads="head")
    heads = [f"{budget:,} tokens" for budget in sorted(pages["budget"].unique())]
    return shown[heads].fillna("–").rename(index=title).rename_axis("Method").reset_index().assign(n=shown["n"].array)


def sizes_finding(study: Study, values: Mapping[str, pd.DataFrame]) -> str:
    """The order of rows by their means under each heading, and how far the first column is ahead of the last, in one
    sentence. ``values``: heading → questions × rows."""
    draws, orders, said = Resampling.of(study), [], []
    for head, part in values.items():
        if part.shape[1] < 2:
            return "Too few sizes of chunks are measured here."
        means = part.mean().sort_values(ascending=False, kind="stable")
        listed = ", ".join(f"{title(name)} {mean:.2f}" for name, mean in means.items())
        small, large = part.columns[[0, -1]]
        apart = with_interval(*draws.difference(part[small], part[large])[:3])
        orders.append([*means.index])
        said.append(f"{head} it is {listed} ({title(small)} less {title(large)}: {apart})")
    changes = "stays" if all(order == orders[0] for order in orders) else "changes"
    return f"The order {changes}: {'; '.join(said)}."


def comparison_table(
    study: Study, metrics: Metrics, reference: str, others: Sequence[str], metric: str, k: int = 5
) -> pd.DataFrame:
    """Each method against a reference: difference with interval, Holm's p, and whether it is distinguishable."""
    first, *values = (metrics[name, metric, k] for name in (reference, *others))
    found = Resampling.of(study).compare(first, dict(zip(others, values, strict=True))).reset_index()
    return as_table(found, "compared", metric=METRIC_TITLES[metric], reference=title(reference))


def variants_table(variants: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.analysis.experiments.bm25_variants` as printed: page recall by condition and type of question."""
    title_of = {"standard": "Shared index", "oracle-document": "Gold filing"}
    heads = variants["condition"].map(title_of) + ", " + variants["question_type"]
    cells = variants.assign(head=heads, cell=variants["page_recall"].map(number))
    shown, said = cells.pivot(index="variant", columns="head", values="cell"), VARIANTS | ASKED
    shown = shown.loc[[*said], [*heads.unique()]]
    return shown.rename(index=said).rename_axis("BM25 over chunks").reset_index()


def matched_table(study: Study, metrics: Metrics, matched: Metrics, k: int) -> pd.DataFrame:
    """Each row with matched filings beside the method that ranks in them: recalls at k, and the paired difference."""
    shown = {"Method": [title(name) for name, _ in matched.runs]}
    for head, metric in (("Documents", "doc_recall"), ("Pages", "page_recall")):
        own = {name: matched[name, metric, k] for name, _ in matched.runs}
        base = {name: metrics[METHODS[name].changes, metric, k] for name in own}
        found = Resampling.of(study).compare(base, own)
        shown[f"{head}, unmatched"] = [*map(number, found["reference_mean"])]
        shown[f"{head}, matched"] = [*map(number, found["mean"])]
    return pd.DataFrame(shown).join(as_table(found, "matched"))


def pool_table(study: Study, metrics: Metrics, methods: Sequence[str], k: int) -> pd.DataFrame:
    """For each reranking method: its first stage's page recall at k, the pool's ceiling, and what reranking reached.

    ``Pool misses`` is the gold that the pool does not contain, ``Inversions`` the gold that it contains and that
    stands below the first k after reranking.
    """
    depth, rows = study.profile.rerank.n, []
    for method in (name for name in methods if METHODS[name].uses[0] in metrics):
        first = METHODS[method].uses[0]
        before, reached = (metrics[name, "page_recall", k].mean() for name in (first, method))
        ceiling = page_recall(study.run(first), study.questions, depth).mean()
        numbers = (before, ceiling, reached, 1 - ceiling, ceiling - reached)
        rows.append((title(method), *map(number, numbers)))
    heads = (f"First stage @{k}", f"Pool ceiling @{depth}", f"Reranked @{k}", "Pool misses", "Inversions")
    return pd.DataFrame(rows, columns=["Method", *heads])
