"""Tables and figures as the book shows them: numbered, with caption, takeaway and their data as CSV.

Both are displayed as MyST markdown, which jupyter-book numbers and indexes; notebooks end a cell with one of them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

PAGE_COMMENT = "shows a page of a filing"
INTERVAL = re.compile(r"(\[[^\s,]+,) (?=[^\s,]+\]$)")
MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|$~^@&:-])")


def escape(text: object) -> str:
    """Text that MyST shows as it is: no markup, no math, no role, one line."""
    return MARKUP.sub(r"\\\1", " ".join(str(text).split()))


def number(value: float, digits: int = 2) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if pd.isna(value) else f"{value:.{digits}f}"


def with_interval(mean: float, low: float, high: float, digits: int = 2) -> str:
    """``0.46 [0.38, 0.54]``."""
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def markdown_table(frame: pd.DataFrame, plain: bool = False) -> str:
    """A pipe table of the frame's columns (not its index); numbers right-aligned, text escaped unless ``plain``."""
    numeric = [
        pd.api.types.is_numeric_dtype(frame[column]) or _looks_numeric(frame[column]) for column in frame
    ]
    head = "| " + " | ".join(str(column) for column in frame) + " |"
    rule = "|" + "|".join("--:" if right else "---" for right in numeric) + "|"
    rows = [
        "| " + " | ".join(str(cell) if plain else escape_cell(cell) for cell in row) + " |"
        for row in frame.itertuples(index=False)
    ]
    return "\n".join([head, rule, *rows])


def escape_cell(cell: object) -> str:
    """A cell's text: missing values as a dash, code in backticks left alone."""
    if not isinstance(cell, str) and pd.isna(cell):
        return "–"
    text = str(cell)
    return text if re.fullmatch(r"`[\w.#-]+`", text) else INTERVAL.sub(r"\1&nbsp;", escape(text))


def _looks_numeric(column: pd.Series) -> bool:
    filled = [str(cell) for cell in column if str(cell) not in ("", "–", "nan", "None")]
    return bool(filled) and all(re.match(r"[-+−]?[\d.]", cell) for cell in filled)


@dataclass
class Shown:
    """Something that a notebook cell shows in the book."""

    markdown: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/markdown": self.markdown}


def table(
    study,
    frame: pd.DataFrame,
    name: str,
    caption: str,
    takeaway: str = "",
    data: pd.DataFrame | None = None,
    plain: bool = False,
) -> Shown:
    """A numbered table; one without rows has a row of dashes.

    Args:
        study: whose view gets ``tables/<name>.csv``.
        frame: what is shown, cells as they are printed.
        name: label for references, ``tab-<name>``.
        caption: what is measured, on how many questions, under which setting.
        takeaway: one sentence, shown in bold; its numbers come from the data.
        data: what the CSV holds, by default ``frame``.
        plain: whether the cells are markup already.
    """
    study.write(f"tables/{name}.csv", (frame if data is None else data).to_csv(index=False))
    shown = frame if len(frame) else pd.DataFrame([dict.fromkeys(list(frame) or ["Nothing known"], "–")])
    body = (
        f"::::{{table}} {caption}{study.provenance} {{download}}`CSV <../tables/{name}.csv>`\n:name: tab-{name}\n"
        f":class: study-table\n\n{markdown_table(shown, plain)}\n::::\n"
    )
    return Shown(body + (f"\n**{takeaway}**\n" if takeaway else ""))


def figure(
    study, drawn: plt.Figure, name: str, caption: str, alt: str, data: pd.DataFrame, takeaway: str = ""
) -> Shown:
    """A numbered figure on an opaque background.

    Args:
        study: whose view gets ``figures/<name>.png`` and ``.csv``.
        drawn: the matplotlib figure; it is closed.
        name: label for references, ``fig-<name>``.
        caption: what is drawn, on how many questions.
        alt: what the picture says to one who does not see it.
        data: the numbers that are drawn.
        takeaway: one sentence, shown in bold.
    """
    path = Path(study.view) / "figures" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".aside.png")
    about = {"Software": None} | ({"Comment": PAGE_COMMENT} if holds_page(drawn) else {})
    drawn.savefig(aside, dpi=150, bbox_inches="tight", facecolor="white", metadata=about)
    plt.close(drawn)
    aside.replace(path)
    study.write(f"figures/{name}.csv", data.to_csv(index=False))
    body = (
        f"::::{{figure}} ../figures/{name}.png\n:name: fig-{name}\n:alt: {' '.join(alt.split())}\n\n"
        f"{caption}{study.provenance} {{download}}`CSV <../figures/{name}.csv>`\n::::\n"
    )
    return Shown(body + (f"\n**{takeaway}**\n" if takeaway else ""))


def holds_page(drawn: plt.Figure) -> bool:
    """Whether a figure shows a filing's page, which is not published: a coloured picture, or more text than a label."""
    pictures = [picture.get_array() for axes in drawn.axes for picture in axes.images]
    lengths = [len(text.get_text()) for axes in drawn.axes for text in axes.texts]
    return any(p.dtype == np.uint8 and p.ndim == 3 for p in pictures) or max(lengths, default=0) > 300


def note(text: str) -> Shown:
    """A paragraph whose numbers come from the data."""
    return Shown(text)
