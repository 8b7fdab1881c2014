"""Tables and figures as the book shows them: MyST markdown, numbered, with caption, takeaway and their data as CSV."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from lib.methods import METHODS
from lib.metrics import METRIC_TITLES
from lib.show.drawn import NARROW, OF_DEMO, for_phone, not_drawn, pages_in, smallest_type
from lib.show.html import as_html
from lib.show.markup import Markup, as_csv, escape
from lib.stats import tier
from lib.study import Study
from lib.words import IN_WORDS, NeedsFilings

TYPE, NOT_DRAWN = ("smallest type", "not drawn")  # in a figure's file
PAGE_COMMENT = "shows a page of a filing"
UNBROKEN = re.compile(r"(\[[^\s,]+,|^likely|^not) (?=[^\s,]+\]$|gain$|loss$|shown$)")  # an interval, and a verdict
SIGN = re.compile(r"(?<![^\s\[(])-(?=\d)")  # of a number, which no letter or digit is before
NO_SIGN = re.compile(r"(?<![^\s\[(])[-+−](?=0\.0+(?![\d%]))")
QUANTITY = re.compile(r"[-+]?\d[\d.,]*(?: \[[-+\d., ]+\])?")  # with its interval
PLACEHOLDER = re.compile(r"(?<!\\)\{(\w+)\}(?!`)")  # neither escaped nor a role of MyST
WITH_FORM = re.compile(r"(?<!\\)\{(\w+)[:!.\[][^}]*\}(?!`)")
pd.options.display.precision = 3  # of frames that a cell shows as they are
GLUED = "application/papermill.record/"  # where myst_nb reads; its own glue takes two seconds to import


def number(value: float, digits: int = 2) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if pd.isna(value) else f"{value:.{digits}f}"


def p_value(value: float) -> str:
    """A p-value with three digits, ``< 0.001`` for what these round to nothing; a dash where nothing was tested."""
    return "< 0.001" if value < 0.0005 else number(value, digits=3)


def with_interval(mean: float, low: float, high: float) -> str:
    """``0.46 [0.38, 0.54]``; a dash where there is no mean."""
    return "–" if pd.isna(mean) else f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def seconds(value: float) -> str:
    """Seconds with two significant digits; a dash where they were not measured."""
    return "–" if pd.isna(value) else f"{value:#.2g}".rstrip(".") if value < 10 else f"{value:,.0f}"


def typeset(text: str) -> str:
    """A text whose numbers have a minus sign in place of a hyphen, and no sign where they round to zero."""
    return SIGN.sub("−", NO_SIGN.sub("", text))


HEADS = {"n": "n", "k": "k", "p": "p", "p_holm": "p (Holm)"} | METRIC_TITLES
#: What the words of these columns are printed as.
TITLES = ({name: row.title for name, row in METHODS.items()}, METRIC_TITLES, IN_WORDS)
DIFFERENCE = re.compile(r"difference|gain|worth")  # in the name of a column


def ends_of(frame: pd.DataFrame, name: str) -> tuple[str, str] | None:
    """The columns with the ends of a column's interval: ``x_low`` and ``x_high``, or ``low`` and ``high``."""
    if f"{name}_low" in frame:
        return f"{name}_low", f"{name}_high"
    bare = next((one for one in ("difference", "gain", "mean") if one in frame and f"{one}_low" not in frame), None)
    return ("low", "high") if name == bare and "low" in frame else None


def laid_out(frame: pd.DataFrame, show: Sequence[str] | Mapping[str, str] = ()) -> pd.DataFrame:
    """A frame's columns (``show``: by headings or by their own names; by default all) as a table prints them.

    ``x``, ``x_low`` and ``x_high`` are one cell, with a sign where x is a difference or a gain; a difference of a frame
    with ``p_holm`` (or ``p``) gets the verdict of :func:`lib.stats.tier`, also where the p itself is not shown. ``p…``
    is a p-value and ``…_s`` seconds; names of methods, metrics and conditions are printed as their titles.
    """
    heading = lambda name: name if re.search("[A-Z ]", name) else name.replace("_", " ").capitalize()  # noqa: E731
    if not show:
        hidden = {end for name in frame for end in ends_of(frame, name) or ()}
        show = [name for name in frame if name not in hidden]
    columns = show if isinstance(show, Mapping) else {HEADS.get(one) or heading(one): one for one in show}
    shown = pd.DataFrame({head: cells(frame, name) for head, name in columns.items()}, frame.index)
    tested = next((one for one in columns.values() if DIFFERENCE.search(one) and ends_of(frame, one)), None)
    p = next((one for one in ("p_holm", "p") if one in frame), None)
    if tested and p:
        shown["Verdict"] = [*map(tier, *(frame[one] for one in ends_of(frame, tested)), frame[p])]
    return shown


def cells(frame: pd.DataFrame, name: str) -> list:
    """The cells of a column, see :func:`laid_out`."""
    column, ends, sign = frame[name], ends_of(frame, name), "+" if DIFFERENCE.search(name) else ""
    if ends:
        rows = zip(column, *(frame[end] for end in ends), strict=True)
        return ["–" if pd.isna(row[0]) else "{:{s}.2f} [{:{s}.2f}, {:{s}.2f}]".format(*row, s=sign) for row in rows]
    for titles in TITLES:
        if len(column) and column.dtype == object and column.isin(list(titles)).all():
            return [*map(titles.get, column)]
    if pd.api.types.is_bool_dtype(column):
        return ["yes" if cell else "no" for cell in column]
    if not pd.api.types.is_float_dtype(column):
        return [f"{cell:,}" if isinstance(cell, int) and abs(cell) >= 10_000 else cell for cell in column.tolist()]
    form = p_value if re.match("p(_|$)", name) else seconds if name.endswith("_s") else None
    return [form(cell) if form else "–" if pd.isna(cell) else f"{cell:{sign}.2f}" for cell in column]


def markdown_table(frame: pd.DataFrame, plain: bool = False) -> Markup:
    """A pipe table of the frame's columns (not its index); numbers right-aligned, text escaped unless ``plain``."""
    form = str if plain else escape_cell
    rows = [map(escape_cell, frame), *(map(form, row) for row in frame.itertuples(index=False))]
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|" + "|".join("--:" if _is_numeric(frame[column]) else "---" for column in frame) + "|"
    return Markup("\n".join([head, rule, *body]))


def escape_cell(cell: object) -> str:
    """A cell's text: missing values as a dash, code in backticks left alone."""
    text = cell if isinstance(cell, str) else "–" if pd.isna(cell) else str(cell)
    text = typeset(text) if QUANTITY.fullmatch(text) else text
    return text if re.fullmatch(r"`[\w.#-]+`", text) else UNBROKEN.sub(r"\1&nbsp;", escape(text))


def _is_numeric(column: pd.Series) -> bool:
    filled = [str(cell) for cell in column if str(cell) not in ("", "–", "nan", "None")]
    is_written = bool(filled) and all(re.match(r"[-+−]?[\d.]", cell) for cell in filled)
    return is_written or pd.api.types.is_numeric_dtype(column)


class Shown(NamedTuple):
    """Something that a cell shows: MyST for the book, HTML elsewhere; ``outputs`` is the folder of its figures."""

    markdown: str
    outputs: Path | None = None

    def __repr__(self) -> str:
        return self.markdown  # without the folder, which is one machine's

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/html": as_html(self.markdown, self.outputs)}


note = Shown  # a paragraph whose numbers come from the data


def joined(parts: Iterable[Shown]) -> Shown:
    """Several figures or tables of one study as one output, below each other."""
    texts, folders = zip(*parts, strict=True) if (parts := [*parts]) else ((), ())
    return Shown("\n".join(texts), next(iter(folders), None))


def only_with_filings(make: Callable[[], Shown]) -> Shown:
    """What ``make`` shows, or the reason where it needs the filings and they are not here."""
    try:
        return make()
    except NeedsFilings as reason:
        return note(f"*Not shown: {reason}.*")


def shown_if(condition: bool, make: Callable[[], Shown], reason: str) -> Shown:
    """What ``make`` shows, or the reason where there is nothing to show."""
    return make() if condition else note(reason)


def glue(name: str, value: object, form: str = ".2f") -> None:
    """Keep a value for ``{glue:text}`name``` in Markdown: a float formatted by ``form``, a whole number with thousands
    separators, text as it is."""
    is_float, is_whole = (isinstance(value, kinds) for kinds in (float | np.floating, int | np.integer))
    text = typeset(format(value, form if is_float else "," if is_whole else ""))
    shown = {f"{GLUED}text/plain": repr("–" if is_float and np.isnan(value) else text)}
    display(shown, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": GLUED}})


def table(
    study: Study,
    frame: pd.DataFrame,
    name: str,
    caption: str,
    takeaway: str = "",
    data: pd.DataFrame | None = None,
    show: Sequence[str] | Mapping[str, str] = (),
    **values: object,
) -> Shown:
    """A numbered table of what :func:`laid_out` shows, with the label ``tab-<name>``; of no rows, a row of dashes.

    The study's outputs get ``tables/<name>.csv`` with ``data``, by default ``frame``. Placeholders of caption and
    takeaway (a sentence in bold) are ``{n}`` questions of ``{companies}`` companies, ``{dataset}``, ``{profile}``, the
    chapter's parameters, and ``values``, which are escaped.
    """
    study.write(f"tables/{name}.csv", as_csv(frame if data is None else data))
    shown = laid_out(frame, show)
    shown = shown if len(frame) else pd.DataFrame([dict.fromkeys(list(shown) or ["Nothing known"], "–")])
    text = _filled(study, caption, values)
    if len(shown) > 1 and "n" in shown and set(shown["n"].astype(str)) == {str(len(study.questions))}:
        shown = shown.drop(columns="n")  # every row has all questions: the caption gives their number once
        text += "" if "n =" in caption else f" n = {len(study.questions)}."
    head = f"{{table}} {_with_data(text, f'tables/{name}.csv')}\n:name: tab-{name}\n:class: study-table"
    return _numbered(head, markdown_table(shown), _filled(study, takeaway, values))


def figure(
    study: Study,
    drawn: plt.Figure,
    name: str,
    caption: str,
    alt: str,
    data: pd.DataFrame,
    takeaway: str = "",
    **values: object,
) -> Shown:
    """A numbered figure, ``fig-<name>``, as :func:`table`; ``alt`` is the picture in words, and ``drawn`` is closed.

    The outputs get ``figures/<name>.svg``, transparent, and ``.csv`` with the numbers that are drawn (``data``), and
    ``figures/narrow/<name>.svg`` where :func:`lib.show.drawn.for_phone` can lay it out. A page of a filing is a
    ``.png``, as drawings are inverted in dark mode; it is not published unless it is OF_DEMO.
    """
    pages = pages_in(drawn)
    svg, png = ((study.outputs / "figures" / f"{name}{suffix}") for suffix in (".svg", ".png"))
    path, other = (png, svg) if pages else (svg, png)
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {TYPE: smallest_type(drawn), NOT_DRAWN: not_drawn(drawn)}
    comment = None if all(axes.get_gid() == OF_DEMO for axes in pages) else PAGE_COMMENT
    style = {"dpi": 150, "facecolor": "white", "metadata": {"Software": None, "Comment": comment}}
    if not pages:
        style = {"transparent": True, "metadata": {"Date": None, "Creator": None, "Description": json.dumps(about)}}
    aside = path.with_suffix(f".aside{path.suffix}")
    drawn.savefig(aside, bbox_inches="tight", **style)
    aside.replace(path)
    narrow = path.parent / NARROW / svg.name
    narrow.parent.mkdir(exist_ok=True)
    if not pages and for_phone(drawn):
        drawn.savefig(aside, bbox_inches="tight", **style)
        aside.replace(narrow)
    else:
        narrow.unlink(missing_ok=True)
    plt.close(drawn)
    other.unlink(missing_ok=True)
    study.write(f"figures/{name}.csv", as_csv(data))
    texts = (_filled(study, text, values, form) for text, form in ((caption, escape), (alt, str), (takeaway, escape)))
    return show_figure(study, name, name, *texts)


def show_figure(study: Study, file: str, name: str, caption: str, alt: str, takeaway: str = "") -> Shown:
    """A figure of the outputs that is drawn already, with the label ``fig-<name>``."""
    quoted = json.dumps(" ".join(alt.split()), ensure_ascii=False)
    suffix = "png" if (study.outputs / "figures" / f"{file}.png").is_file() else "svg"
    head = f"{{figure}} ../figures/{file}.{suffix}\n:name: fig-{name}\n:class: dark-light\n:alt: {quoted}"
    return _numbered(head, _with_data(caption, f"figures/{file}.csv"), takeaway, study.outputs)


def _filled(study: Study, text: str, values: dict[str, object], form: Callable = escape) -> str:
    of_all = {"n": len(study.questions), "companies": study.questions["company"].nunique()}
    named = {"dataset": study.dataset.name, "profile": study.profile.name}
    known = of_all | named | study.parameters | values
    if with_form := WITH_FORM.search(text):
        raise ValueError(f"{with_form[0]} is no placeholder; format the value, and say {{{with_form[1]}}}")
    return PLACEHOLDER.sub(lambda found: form(known[found[1]]), text)


def _with_data(caption: str, file: str) -> str:
    return f"{caption} {{download}}`CSV <../{file}>`"


def _numbered(head: str, body: str, takeaway: str, outputs: Path | None = None) -> Shown:
    return Shown(f"::::{head}\n\n{body}\n::::\n" + (f"\n**{takeaway}**\n" if takeaway else ""), outputs)
