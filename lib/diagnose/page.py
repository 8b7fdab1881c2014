"""A diagnosis as a page of HTML, complete without other files, and as text for a terminal."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lib.analysis.breakdowns import MARK
from lib.data.records import printable
from lib.files import ROOT, digest_of
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.show.display import with_interval
from lib.show.figures import LOST, lost_bars
from lib.show.markup import label
from lib.show.output import Column, gain, interval, printed
from lib.stats import verdicts

FOLDER, STYLE = Path(__file__).parent, ROOT / "book" / "_static" / "study.css"
AT_K = "doc_recall page_recall page_recall_pooled page_hit pages_unjudged ctx_bleu ctx_rouge_l".split()
AT_10 = ("ndcg", "mrr", "map")
LONGEST_NAME = 120  # names of runs in a file's name, in characters
N_EXAMPLES, N_ROWS = 4, 12  # of a kind; of a table, shown at once
SHARES = "Of a question's pages with evidence, the share found in the first {k} passages, and what is lost where."
STEPS = (
    "The study's own pipeline, step by step: its page recall less that of the run, and the shares of pages that the "
    "run loses, with their filing or inside it, and the step finds."
)
TESTED = "Page recall of the run less that of the row, by question; p by randomisation, corrected (Holm) in this table."
TYPES = f"Page recall; {MARK} marks a small group of questions or companies."
KINDS = "Gold pages that are not among the first {k} passages, by the first rule that holds."
ALONE = (
    "Found: a page with evidence is among the run's first {k} passages, and among those of no row above. Missed: the "
    "reverse. The last column counts all rows of the study."
)


class Section(NamedTuple):
    """A part of the page: a heading, what its table shows, and the table as it is printed."""

    title: str
    says: str
    table: pd.DataFrame


def file_name(runs: Sequence[str]) -> str:
    """The name of the page about these runs and no others: ``diagnosis-mine+theirs.html``."""
    names = "+".join(runs)
    return f"diagnosis-{names if len(names) <= LONGEST_NAME else digest_of(runs)[:16]}.html"


def title(name: str) -> str:
    """A row's title, or a run's name."""
    return METHODS[name].title if name in METHODS else name


def summary(diagnosis) -> list[str]:
    """A :class:`lib.diagnose.diagnosis.Diagnosis` in sentences: each run, what is beside it, what to change first."""
    shares, lines = diagnosis.decomposition.set_index("method"), []
    for name in diagnosis.runs:
        ends = ([part, f"{part}_low", f"{part}_high"] for part in LOST)
        values = ["{:.0%} ({:.0%} to {:.0%})".format(*shares.loc[name, columns]) for columns in ends]
        lines.append(
            "In its first {} passages, {} finds {} of a question's pages with evidence. It loses {} on other pages of "
            "the right filing and {} with the filing.".format(diagnosis.k, name, *values)
        )
    if diagnosis.beside:
        others = ", ".join(f"{title(name)} {shares.at[name, 'found']:.0%}" for name in diagnosis.beside)
        lines.append(f"On the same questions rows of the study find, the best ordinary method first: {others}.")
    for name, steps in diagnosis.actions.groupby("run", sort=False):
        better = steps[steps["difference_low"] > 0]
        if better.empty:
            lines.append(f"No step of the study's pipeline is shown to find more than {name}.")
            continue
        first = better.iloc[0]
        gain = 100 * first[["difference", "difference_low", "difference_high"]]
        do, by = first["do"][:1].lower() + first["do"][1:], "{:.0f} pages of 100 ({:.0f} to {:.0f})".format(*gain)
        lines.append(f"What to change first in {name}: {do}. With that, the study's pipeline finds {by} more.")
    return lines


def sections(diagnosis) -> Iterator[Section]:
    """The parts of the page, in its order."""

    def section(head: str, says: str, frame: pd.DataFrame, heads: Mapping[str, Column]) -> Section:
        shown = {head: name for head, name in heads.items() if head != "Run" or len(diagnosis.runs) > 1}
        titled = frame.assign(**{name: frame[name].map(title) for name in ("run", "method") if name in frame})
        return Section(head, says.format(k=diagnosis.k), printed(titled, shown))

    heads = {"Row": "method"} | {head.capitalize(): interval(part) for part, (head, *_) in LOST.items()}
    yield section("Where evidence is lost", SHARES, diagnosis.decomposition, heads)
    if len(diagnosis.actions):
        heads = {"Run": "run", "What to do": "do", "Needs": "needs", "Page recall": "page_recall"}
        heads |= {"Difference": gain(), "Lost with the filing": "of_document", "Lost inside it": "of_page"}
        yield section("What to change first", STEPS, diagnosis.actions, heads)
    heads = {"Run": "run", "Compared with": "method", "Page recall": "reference_mean"}
    heads |= {"Difference": gain(low="low", high="high"), "p": "p", "p (Holm)": "p_holm", "Verdict": "verdict"}
    for family, head in (("beside", "Beside the study"), ("others", "Beside all other rows of the study")):
        part = diagnosis.paired[diagnosis.paired["family"] == family].sort_values("reference_mean", ascending=False)
        if len(part):
            yield section(head, TESTED, part.assign(verdict=verdicts(part, "low", "high")), heads)
    for by in diagnosis.by_type["by"].unique():
        part = diagnosis.by_type[(diagnosis.by_type["by"] == by) & (diagnosis.by_type["metric"] == "page_recall")]
        cells = [*map(with_interval, part["mean"], part["low"], part["high"])]
        size = " (n\u00a0=\u00a0" + part["n"].astype(str) + ")"
        of = part["group"] + part["is_small"].map({True: MARK, False: ""}) + size
        wide = part.assign(of=of, cell=cells).pivot(index="method", columns="of", values="cell")
        wide = wide.loc[part["method"].unique(), of.unique()].reset_index()
        kind = {"question_type": "type of question", "doc_type": "type of filing"}[by]
        yield section(f"By {kind}", TYPES, wide, {"Row": "method"} | {name: name for name in of.unique()})
    kinds = diagnosis.failures[diagnosis.failures["n"] > 0]
    kinds = kinds.assign(examples=[", ".join(ids[:N_EXAMPLES]) for ids in kinds["examples"]])
    heads = {"Run": "method", "Kind": "kind", "Rule": "says", "Pages": "n", "Questions such as": "examples"}
    yield section("Kinds of missed pages", KINDS, kinds, heads)
    if diagnosis.beside:
        of = diagnosis.alone["n_rows"].astype(str) + " of " + diagnosis.alone["of_rows"].astype(str)
        heads = {"Run": "run", "Question": "question_id", "Outcome": "outcome", "Rows that find it": "of"}
        yield section("What it alone finds and misses", ALONE, diagnosis.alone.assign(of=of), heads)
    rows = diagnosis.metrics
    rows = rows[
        ((rows["k"] == diagnosis.k) & rows["metric"].isin(AT_K)) | ((rows["k"] == 10) & rows["metric"].isin(AT_10))
    ]
    measures = rows["metric"].map(lambda name: METRICS[name].title) + " at " + rows["k"].astype(str)
    says = f"Means over {rows['n'].iloc[0]} questions of {rows['n_companies'].iloc[0]} companies."
    heads = {"Run": "method", "Measure": "measure", "Mean": interval("mean", "low", "high")}
    yield section("Measures", says, rows.assign(measure=measures), heads)


def html_of(diagnosis) -> str:
    """The page: no script, no other file, every text of a run or a dataset as text."""
    drawn = lost_bars(
        diagnosis.decomposition.assign(method=[label(title(name)) for name in diagnosis.decomposition["method"]])
    )
    drawn.savefig(packed := io.StringIO(), format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.tests["number"] = re.compile(r"(?:< )?[-+]?[\d.]+(?: \[.*\]| of .*)?|–").fullmatch
    values = {
        "diagnosis": diagnosis,
        "summary": summary(diagnosis),
        "sections": [*sections(diagnosis)],
        "n_rows": N_ROWS,
    }
    values |= {"style": STYLE.read_text(encoding="utf-8"), "picture": packed.getvalue().partition("<svg ")[2]}
    return environment.get_template("page.html").render(values)


def text_of(diagnosis, width: int) -> str:
    """The page's sentences and tables for a terminal, without colours; of long tables the first rows."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False)
    for line in [*summary(diagnosis), *(one for name in diagnosis.runs for one in diagnosis.notes[name])]:
        console.print(Text(printable(line)))
    for one in sections(diagnosis):
        console.print("", Text(one.title.upper()), Text(one.says), sep="\n")
        table = Table(*map(printable, one.table), box=box.SIMPLE_HEAD, pad_edge=False)
        for row in one.table.head(N_ROWS).itertuples(index=False):
            table.add_row(*(Text(printable(str(cell))) for cell in row))
        console.print(table)
        if (n_more := len(one.table) - N_ROWS) > 0:
            console.print(f"… and {n_more} more rows, which the page has")
    return console.file.getvalue()
