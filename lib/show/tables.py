"""The tables of retrieval: our numbers with n and intervals, beside what is reported, and step by step."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from lib.analysis.facts import MAIN, Rows, facts
from lib.evaluation import summary_at
from lib.files import read_yaml
from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.metrics.frame import HEADLINE, Metrics, best
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


def comparison_table(
    study: Study, metrics: Metrics, reference: str, others: Sequence[str], metric: str, k: int = 5
) -> pd.DataFrame:
    """Each method against a reference: difference with interval, Holm's p, and whether it is distinguishable."""
    first, *values = (metrics[name, metric, k] for name in (reference, *others))
    found = Resampling.of(study).compare(first, dict(zip(others, values, strict=True))).reset_index()
    return as_table(found, "compared", metric=METRIC_TITLES[metric], reference=title(reference))
