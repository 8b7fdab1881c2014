"""A diagnosis as a page of HTML, complete without other files, and as text for a terminal."""

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lib.data.records import printable
from lib.files import ROOT
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.show.display import label, laid_out
from lib.show.figures import LOST, lost_bars

FOLDER, STYLE = Path(__file__).parent, ROOT / "book" / "_static" / "study.css"
AT_K = "doc_recall page_recall page_recall_pooled page_hit pages_unjudged ctx_bleu ctx_rouge_l".split()
AT_10 = ("ndcg", "mrr", "map")
N_EXAMPLES, N_ROWS = 4, 12  # of a kind; of a table that are shown at once
TESTED = "Page recall of the run less that of the row, by question; p by randomisation, corrected (Holm) in this table."
KIND = "Gold pages that are not among the first passages, by the first rule that holds."
ALONE = (
    "Found: a page with evidence is among its first passages and among those of no row above; missed: the reverse. "
    "Rows are all that the study measured."
)
STEPS = (
    "The study's own pipeline, step by step, beside the run: the difference in page recall, and what the step finds of "
    "that which the run loses with the filing, and on other pages of the right one."
)
SHARES = "Of a question's pages with evidence: the share found, and what is lost where."


class Section(NamedTuple):
    """A part of the page: a heading, what its table shows, and the table as it is printed."""

    title: str
    says: str
    table: pd.DataFrame


def title(name: str) -> str:
    """A row's title, or a run's name."""
    return METHODS[name].title if name in METHODS else name


def lead(found) -> list[str]:
    """A :class:`lib.diagnose.diagnosis.Diagnosis` in sentences: each run, what is beside it, what to change first."""
    parts, said = found.decomposition.set_index("method"), []
    for name in found.runs:
        ends = ([part, f"{part}_low", f"{part}_high"] for part in LOST)
        shares = ["{:.0%} ({:.0%} to {:.0%})".format(*parts.loc[name, names]) for names in ends]
        said.append(
            "In its first {} passages, {} finds {} of a question's pages with evidence. It loses {} on other pages of "
            "the right filing and {} with the filing.".format(found.k, name, *shares)
        )
    if found.beside:
        others = ", ".join(f"{title(name)} finds {parts.at[name, 'found']:.0%}" for name in found.beside)
        said.append(f"On the same questions {others}.")
    for name, steps in found.actions.groupby("run", sort=False) if len(found.actions) else ():
        better = steps[steps["difference_low"] > 0].to_dict("records")
        if better:
            text = (
                "What to change first in {run}: {do}. It needs {needs}; the study's pipeline with it finds {by} more."
            )
            ends = ("difference", "difference_low", "difference_high")
            by = "{:.0%} ({:.0%} to {:.0%})".format(*(better[0][end] for end in ends))
            said.append(text.format(**better[0] | {"do": better[0]["do"][:1].lower() + better[0]["do"][1:], "by": by}))
        else:
            said.append(f"No step of the study's pipeline is shown to find more than {name}.")
    return said


def sections(found) -> Iterator[Section]:
    """The parts of the page, in its order."""
    heads = {"Row": "method"} | {head.capitalize(): part for part, (head, *_) in LOST.items()}
    yield Section("Where evidence is lost", SHARES, _laid(found, found.decomposition, heads))
    if len(found.actions):
        heads = {"Run": "run", "What to do": "do", "Needs": "needs", "Page recall": "page_recall"}
        heads |= {"Difference": "difference", "Of wrong filings": "of_document", "Of wrong pages": "of_page"}
        yield Section("What to change first", STEPS, _laid(found, found.actions, heads))
    metrics = found.metrics
    is_shown = (metrics["k"] == found.k) & metrics["metric"].isin(AT_K) | (metrics["k"] == 10) & metrics["metric"].isin(
        AT_10
    )
    shown = metrics[is_shown]
    named = [f"{METRICS[one].title} at {k}" for one, k in zip(shown["metric"], shown["k"], strict=True)]
    heads = {"Run": "method", "Measure": "measure", "Mean": "mean"}
    says = f"Means over {metrics['n'].iloc[0]} questions of {metrics['n_companies'].iloc[0]} companies."
    yield Section("Measures", says, _laid(found, shown.assign(measure=named), heads))
    heads = {"Run": "run", "Beside": "method", "Page recall": "reference_mean", "Difference": "difference"}
    for family, head in (("beside", "Beside the study"), ("others", "Beside all other rows of the study")):
        part = found.paired[found.paired["family"] == family].sort_values("reference_mean", ascending=False)
        if len(part):
            yield Section(head, TESTED, _laid(found, part, heads | {"p": "p", "p (Holm)": "p_holm"}))
    for by in found.by_type["by"].unique():
        part = found.by_type.query("by == @by and metric == 'page_recall'")
        heads = {"Group": "group", "n": "n", "Row": "method", "Page recall": "mean", "Small": "is_small"}
        says = "Page recall; a small group has few questions or companies."
        yield Section(f"By {by.replace('_', ' ').replace('doc', 'filing')}", says, _laid(found, part, heads))
    kinds = found.failures[found.failures["n"] > 0]
    kinds = kinds.assign(examples=[", ".join(ids[:N_EXAMPLES]) for ids in kinds["examples"]])
    heads = {"Run": "method", "Kind": "kind", "Rule": "says", "Pages": "n", "Questions such as": "examples"}
    yield Section("Kinds of missed pages", KIND, _laid(found, kinds, heads))
    if found.beside:
        heads = {
            "Run": "run",
            "Outcome": "outcome",
            "Question": "question_id",
            "Rows that find it": "n_rows",
            "Of": "of_rows",
        }
        yield Section("What it alone finds and misses", ALONE, _laid(found, found.alone, heads))


def _laid(found, frame: pd.DataFrame, heads: Mapping[str, str]) -> pd.DataFrame:
    """A frame as tables of the book print it, without the column of runs where there is one run."""
    titled = frame.assign(**{name: frame[name].map(title) for name in ("run", "method") if name in frame})
    return laid_out(titled, {head: name for head, name in heads.items() if head != "Run" or len(found.runs) > 1})


def html_of(found) -> str:
    """The page: no script, no other file, every text of a run or a dataset as text."""
    drawn = lost_bars(found.decomposition.assign(method=[label(title(name)) for name in found.decomposition["method"]]))
    drawn.savefig(packed := io.StringIO(), format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(drawn)
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    picture = re.sub(
        r"<svg ",
        '<svg role="img" aria-labelledby="lost" ',
        packed.getvalue().partition("<svg ")[1] + packed.getvalue().partition("<svg ")[2],
        count=1,
    )
    values = {"found": found, "lead": lead(found), "sections": [*sections(found)], "picture": picture}
    return environment.get_template("page.html").render(
        **values, style=STYLE.read_text(encoding="utf-8"), n_rows=N_ROWS
    )


def text_of(found, width: int) -> str:
    """The page's sentences and tables for a terminal, without colours; of long tables the first rows."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False)
    for line in [*lead(found), *(one for name in found.runs for one in found.said[name])]:
        console.print(Text(printable(line)))
    for one in sections(found):
        console.print("", Text(one.title.upper()), Text(one.says), sep="\n")
        table = Table(*one.table, box=box.SIMPLE_HEAD, pad_edge=False)
        for row in one.table.head(N_ROWS).itertuples(index=False):
            table.add_row(*(Text(printable(str(cell))) for cell in row))
        console.print(table)
        if (n_more := len(one.table) - N_ROWS) > 0:
            console.print(f"… and {n_more} more rows, which the page has")
    return console.file.getvalue()
