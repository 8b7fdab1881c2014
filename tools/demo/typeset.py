"""Measures of letter-size pages, and breaking text into lines that fit them."""

from functools import lru_cache

import pymupdf

WIDTH, HEIGHT = 612, 792  # points
LEFT, RIGHT, TOP, BOTTOM = 54, 558, 62, 738
SIZE, LEADING = 9.5, 12.4
PLAIN, BOLD, ITALIC = "helv", "hebo", "heit"


@lru_cache(maxsize=50_000)
def width(text: str, font: str, size: float) -> float:
    return pymupdf.get_text_length(text, fontname=font, fontsize=size)


def wrap(text: str, room: float, font: str, size: float) -> list[str]:
    """Break text into lines no wider than ``room`` points, at spaces."""
    lines, line, used = [], [], 0.0
    gap = width(" ", font, size)
    for word in text.split():
        needed = width(word, font, size)
        if line and used + gap + needed > room:
            lines.append(" ".join(line))
            line, used = [], 0.0
        used += needed + (gap if line else 0)
        line.append(word)
    return [*lines, " ".join(line)] if line else lines
