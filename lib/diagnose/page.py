"""A diagnosis as a page of HTML, complete without other files, and as text for a terminal."""

import io
import itertools
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

from lib.analysis.breakdowns import MARK, MIN_QUESTIONS
from lib.data.records import printable
from lib.diagnose.advice import STEPS
from lib.diagnose.fields import n_of
from lib.diagnose.places import NO_PAGE
from lib.files import ROOT, digest_of
from lib.method_sets import baselines
from lib.metrics import METRICS
from lib.show.display import with_interval
from lib.show.figures import LOST, lost_bars
from lib.show.markup import label
from lib.show.output import Column, gain, interval, printed
from lib.show.tables import title

FOLDER, STYLE = Path(__file__).parent, ROOT / "book" / "_static" / "study.css"
AT_K = "doc_recall page_recall page_recall_pooled page_hit pages_unjudged ctx_bleu ctx_rouge_l".split()
AT_10 = ("ndcg", "mrr", "map")
LONGEST_NAME = 120  # names of runs in a file's name, in characters
N_EXAMPLES, N_ROWS = 4, 12  # of a kind; of a table, shown at once
SHARES = (
    "Of a question's pages with evidence: found among the first {k} passages; missed on another page of a filing that "
    "was retrieved; missed because the filing was not retrieved. The study's rows are measured on the same questions."
)
STEPS_SAY = (
    "Each step lowers one loss, the larger one first. A step is advised where this run loses more than the study's row "
    "with that step (the 95 % interval of the difference is above zero). The gain is what the step adds to page recall "
    "in the study, with the encoder that is named, on this run's questions; another pipeline may gain less."
)
TESTED = "Page recall of the run less that of the row, by question; p by randomisation, corrected (Holm) in this table."
TYPES = f"Page recall; {MARK} marks a small group of questions or companies."
KINDS = "Gold pages that are not among the first {k} passages, by the first rule that holds."
ALONE = (
    "Found: a page with evidence is among the run's first {k} passages, and among those of no row above. Missed: the "
    "reverse. The last column counts all rows of the study."
)
ALL, LEAST = "all questions", 0.005  # a share that a sentence mentions
GAIN = gain("gain")
STEPS_OF = {condition: [step.loss for step in steps] for condition, steps in STEPS.items()}  # losses with a step


class Section(NamedTuple):
    """A part of the page: a heading, what its table shows, and the table as it is printed."""

    title: str
    says: str
    table: pd.DataFrame


def file_name(runs: Sequence[str]) -> str:
    """The name of the page about these runs and no others: ``diagnosis-mine+theirs.html``."""
    names = "+".join(runs)
    return f"diagnosis-{names if len(names) <= LONGEST_NAME else digest_of(runs)[:16]}.html"


def percent(value: float) -> str:
    """A share as a sentence has it, rounded as tables round it."""
    return f"{100 * float(f'{value:.2f}'):.0f}%"


def share(row: pd.Series, part: str) -> str:
    """A share with its interval, as a sentence has it."""
    return "{} ({} to {})".format(*map(percent, row[[part, f"{part}_low", f"{part}_high"]]))


def gained(row: pd.Series) -> str:
    """A gain with its interval, as a sentence has it."""
    return "{} pages of 100 ({} to {})".format(*(f"{100 * row[end]:.0f}" for end in ("gain", "gain_low", "gain_high")))


def summary(diagnosis) -> list[list[str]]:
    """A :class:`lib.diagnose.diagnosis.Diagnosis` in sentences for each run: its losses, rows beside it, what to
    change."""
    return [[*_about(diagnosis, one)] for one in diagnosis.judged]


def _about(diagnosis, one) -> Iterator[str]:
    """The sentences about a :class:`lib.diagnose.beside.Judged`."""
    found = diagnosis.decomposition[diagnosis.decomposition["run"] == one.name].set_index("method")
    own, is_given = found.loc[one.name], one.condition != "standard"
    lost = [f"{share(own, 'page')} because other pages of the filing come first"]
    if not is_given:
        lost.append(f"{share(own, 'document')} because the filing is not retrieved")
    elif own["document"] >= LEAST:
        lost.append(f"{share(own, 'document')} because nothing is retrieved")
    passages = f"In its first {diagnosis.k} passages, {one.name} finds {share(own, 'found')} of a question's pages"
    yield f"{passages} with evidence. It misses {', and '.join(lost)}."
    first = one.run[one.run["rank"] <= diagnosis.k]
    if (unplaced := (first["page"] == NO_PAGE).mean()) >= LEAST:
        yield f"{percent(unplaced)} of these passages have no page: it finds at least this, and loses at most this."
    if not one.is_whole:
        recall = diagnosis.metrics.query("method == @one.name and metric == 'page_recall' and k == @diagnosis.k")
        whole = recall.set_index("over").loc["all"]
        means = f"These are means over the {n_of(len(one.questions), 'question')} that {one.name} answers"
        yield f"{means}; over all {whole['n']}, where the others score 0, it finds {percent(whole['mean'])}."
    if one.beside:
        given = ", given the filing," if is_given else ""
        names = [f"{title(name)} {percent(found.at[name, 'found'])}" for name in one.beside]
        names[0] = ("the best standard method, " if one.beside[0] in baselines() else "") + names[0]
        yield f"On the same questions, rows of the study{given} find: {'; '.join(names)}."
    plain = diagnosis.paired[(diagnosis.paired["run"] == one.name) & (diagnosis.paired["method"] == "dense")]
    if len(plain) and plain["difference_high"].iloc[0] < 0:
        less = f"{one.name} finds less than plain dense search ({percent(plain['reference_mean'].iloc[0])})"
        yield f"{less}: look at how it reads, cuts and searches pages before the steps below."
    yield from _advice(diagnosis, one)


def _advice(diagnosis, one) -> Iterator[str]:
    """What to change in a run, for the larger loss first; and what its own numbers show to be done."""
    steps = diagnosis.actions[diagnosis.actions["run"] == one.name]
    found = diagnosis.decomposition
    own = found[(found["run"] == one.name) & (found["method"] == one.name)].iloc[0]
    losses = sorted(STEPS_OF[one.condition], key=lambda loss: -own[loss]) if len(steps) else ()
    losses = [loss for loss in losses if own[loss] >= LEAST]
    for place, loss in enumerate(losses):
        rows, which = (
            steps[steps["loss"] == loss],
            ("Larger loss", "Smaller loss")[place] if len(losses) > 1 else "Loss",
        )
        yield from _against(one.name, f"{which}, {LOST[loss][0].removeprefix('missed: ')}: {share(own, loss)}", rows)
    for _, row in steps[(steps["loss"] == "depth") & (steps["gain"] > 0)].iterrows():
        yield f"The first {row['k']} passages of {one.name} find {gained(row)} more than the first {diagnosis.k}."


def _against(run: str, lost: str, rows: pd.DataFrame) -> Iterator[str]:
    """The step against a loss, of its rows of :func:`lib.diagnose.advice.actions`."""
    if rows.empty:
        yield f"{lost}. The study's step against it was not measured on these questions."
    elif not rows["is_shown"].iloc[0]:
        beside = f"{run} does not lose significantly more than {title(rows['method'].iloc[0])}"
        yield f"{lost}; {beside}, so no step is advised."
    elif not (is_gain := rows["gain_low"] > 0).any():
        yield f"{lost}; the study's own step shows no gain on these questions."
    else:
        do, gains = rows["do"].iloc[0], [f"{gained(row)} with {row['encoder']}" for _, row in rows[is_gain].iterrows()]
        yield f"{lost}. Step: {do[:1].lower()}{do[1:]}."
        yield f"In the study, on these questions, this step adds {' and '.join(gains)}."


def sections(diagnosis) -> Iterator[Section]:
    """The parts of the page, in its order."""

    def section(head: str, says: str, frame: pd.DataFrame, heads: Mapping[str, Column]) -> Section:
        shown = {head: name for head, name in heads.items() if head != "Run" or len(diagnosis.runs) > 1}
        shown = {head: name for head, name in shown.items() if head != "Over" or frame["over"].nunique() > 1}
        titled = frame.assign(**{name: frame[name].map(title) for name in ("run", "method") if name in frame})
        return Section(head, says.format(k=diagnosis.k), printed(titled, shown))

    heads = {"Row": "method"} | {head.capitalize(): interval(part) for part, (head, *_) in LOST.items()}
    yield section("Where evidence is lost", SHARES, _once(diagnosis.decomposition, diagnosis.runs), heads)
    if len(diagnosis.actions):
        steps = _steps(diagnosis.actions)
        heads = {"Run": "run", "Step": "title", "Needs": "needs", "The run loses so": "own"}
        heads |= {"Advised": "advised", "Gain": "gain"}
        yield section("What to change first", STEPS_SAY, steps, heads)
    heads = {"Run": "run", "Compared with": "method", "Page recall": "reference_mean"}
    heads |= {"Difference": gain(), "p": "p", "p (Holm)": "p_holm", "Verdict": "verdict"}
    for family, head in (("beside", "Beside the study"), ("others", "Beside all other rows of the study")):
        part = diagnosis.paired[diagnosis.paired["family"] == family]
        part = part.assign(place=part["run"].map([*diagnosis.runs].index))
        part = part.sort_values(["place", "reference_mean"], ascending=[True, False], kind="stable")
        if len(part):
            verdict = part["verdict"].where(part["n"] >= MIN_QUESTIONS, "–")
            yield section(head, TESTED, part.assign(verdict=verdict), heads)
    for by in diagnosis.by_type["by"].unique():
        part = diagnosis.by_type[(diagnosis.by_type["by"] == by) & (diagnosis.by_type["metric"] == "page_recall")]
        cells = [*map(with_interval, part["mean"], part["low"], part["high"])]
        size = " (n\u00a0=\u00a0" + part["n"].astype(str) + ")"
        of = part["group"] + part["is_small"].map({True: MARK, False: ""}) + size
        wide = part.assign(of=of, cell=cells).pivot(index=["run", "method"], columns="of", values="cell").fillna("–")
        order = part[["run", "method"]].drop_duplicates()
        wide = wide.loc[pd.MultiIndex.from_frame(order), of.unique()].reset_index()
        kind = {"question_type": "type of question", "doc_type": "type of filing"}[by]
        yield section(
            f"By {kind}", TYPES, _once(wide, diagnosis.runs), {"Row": "method"} | {one: one for one in of.unique()}
        )
    kinds = diagnosis.failures[diagnosis.failures["n"] > 0]
    kinds = kinds.assign(examples=[", ".join(ids[:N_EXAMPLES]) for ids in kinds["examples"]])
    heads = {"Run": "method", "Kind": "kind", "Rule": "says", "Pages": "n", "Questions such as": "examples"}
    yield section("Kinds of missed pages", KINDS, kinds, heads)
    if len(diagnosis.alone):
        of = diagnosis.alone["n_rows"].astype(str) + " of " + diagnosis.alone["of_rows"].astype(str)
        heads = {"Run": "run", "Question": "question_id", "Outcome": "outcome", "Rows that find it": "of"}
        yield section("What it alone finds and misses", ALONE, diagnosis.alone.assign(of=of), heads)
    rows = diagnosis.metrics
    rows = rows[
        ((rows["k"] == diagnosis.k) & rows["metric"].isin(AT_K)) | ((rows["k"] == 10) & rows["metric"].isin(AT_10))
    ]
    measures = rows["metric"].map(lambda name: METRICS[name].title) + " at " + rows["k"].astype(str)
    over = rows["over"].replace({"answered": "answered questions", "all": ALL}) + ", " + rows["n"].astype(str)
    heads = {"Run": "method", "Measure": "measure", "Over": "over", "Mean": interval("mean", "low", "high")}
    yield section("Measures", _means(rows), rows.assign(measure=measures, over=over), heads)


def _steps(actions: pd.DataFrame) -> pd.DataFrame:
    """The steps, a row each, with what they gain by encoder, as printed."""
    cells = printed(actions, {"own": interval("share"), "gain": GAIN})
    table = actions.assign(own=cells["own"], gain=cells["gain"] + " " + actions["encoder"])
    table["advised"] = table["is_shown"].map({True: "yes", False: "no"})
    gains = table.groupby(["run", "do"], sort=False)["gain"].agg("; ".join)
    return table.drop_duplicates(["run", "do"]).drop(columns="gain").merge(gains.reset_index(), on=["run", "do"])


def _means(rows: pd.DataFrame) -> str:
    """What the means of a table are over, where that is the same of all."""
    of = rows[["n", "n_companies"]].drop_duplicates()
    return (
        f"Means over {of['n'].iloc[0]} questions of {of['n_companies'].iloc[0]} companies."
        if len(of) == 1
        else "Means."
    )


def _once(rows: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """Rows of runs and of the study beside them, in which runs with the same rows beside them stand above these."""
    groups: dict[str, list[pd.DataFrame]] = {}
    for name in runs:
        of = rows[rows["run"] == name]
        beside = of[of["method"] != name]
        groups.setdefault(beside.drop(columns="run").to_csv(index=False), [beside]).append(of[of["method"] == name])
    return pd.concat([part for beside, *own in groups.values() for part in (*own, beside)], ignore_index=True)


def html_of(diagnosis) -> str:
    """The page: no script, no other file, every text of a run or a dataset as text."""
    lost = _once(diagnosis.decomposition, diagnosis.runs)
    drawn = lost_bars(lost.assign(method=[label(title(name)) for name in lost["method"]]))
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
    notes = (diagnosis.notes[name] for name in diagnosis.runs)
    for line in itertools.chain(*summary(diagnosis), *notes):
        console.print(Text(printable(line.replace("\u00a0", " "))))
    for one in sections(diagnosis):
        console.print("", Text(one.title.upper()), Text(one.says), sep="\n")
        table = Table(
            *(printable(head.replace("\u00a0", " ")) for head in one.table), box=box.SIMPLE_HEAD, pad_edge=False
        )
        for row in one.table.head(N_ROWS).itertuples(index=False):
            table.add_row(*(Text(printable(str(cell).replace("\u00a0", " ")), overflow="fold") for cell in row))
        console.print(table)
        if (n_more := len(one.table) - N_ROWS) > 0:
            console.print(f"… and {n_more} more rows, which the page has")
    return console.file.getvalue()
