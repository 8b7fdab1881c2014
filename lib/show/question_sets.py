"""Figures of two question sets side by side."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import pandas as pd

from lib.show.display import label
from lib.show.drawn import SHOWN_WIDTH
from lib.show.figures import COLOURS, GREY
from lib.show.tables import title

STEEP = 5  # ranks between two sets by which a line of ranks is coloured


def ranks(means: pd.DataFrame) -> plt.Figure:
    """The rank of each row (index) by its mean in two sets (columns): steep rises are thick, steep falls dashed."""
    places = means.rank(ascending=False, method="first")
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 0.3 * len(places) + 0.8))
    for name, row in places.iterrows():
        rises = row.iloc[0] - row.iloc[1]
        rising, falling = rises >= STEEP, -rises >= STEEP
        colour, width = (COLOURS[1], 2.5) if rising else (COLOURS[0], 2) if falling else (GREY, 1)
        axes.plot([0, 1], row, "o--" if falling else "o-", color=colour, lw=width, ms=4)
        short = title(name).replace("filings matched by records", "matched").replace(", written context", "")
        for place, side, away in ((0, "right", -0.05), (1, "left", 0.05)):
            text = f"{short}  {means.loc[name].iloc[place]:.2f}"
            axes.text(place + away, row.iloc[place], text, ha=side, va="center", fontsize=9)
    axes.set(xticks=[0, 1], xticklabels=[*map(label, places)], xlim=(-1.6, 2.6), yticks=[])
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    return drawn


def lines(found: pd.DataFrame, x: str, xlabel: str, ticks: Iterable[float]) -> plt.Figure:
    """BM25 − dense (mean, low, high) against ``x``: a colour per ``set``, and in it a line per ``line``, the first one
    solid and any other dashed, named at its end."""
    drawn, axes = plt.subplots(figsize=(SHOWN_WIDTH, 3.8))
    for colour, (_, of) in zip(COLOURS, found.groupby("set", sort=False), strict=False):
        for number, (name, part) in enumerate(of.groupby("line", sort=False)):
            part = part.drop_duplicates(x).sort_values(x)
            ends = abs(part[["low", "high"]].to_numpy() - part[["mean"]].to_numpy()).T
            form, fill = ("o--", "none") if number else ("o-", colour)
            axes.errorbar(part[x], part["mean"], ends, fmt=form, mfc=fill, ms=5, capsize=2, lw=1.4, color=colour)
            end = part[[x, "mean"]].iloc[-1]
            axes.annotate(label(name), end, (8, 0), textcoords="offset points", va="center", fontsize=9, color=colour)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.set(xlabel=xlabel, ylabel="BM25 − dense, page recall", xticks=sorted(ticks))
    axes.set_xlim(right=found[x].max() + 0.32 * (found[x].max() - found[x].min()))  # for the names
    return drawn
