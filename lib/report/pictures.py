"""A page drawn as a picture, with the evidence marked where it stands."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pymupdf

MARK = (1.0, 0.85, 0.2)


def page_picture(study, doc_name: str, page: int, evidence: str = "", dpi: int = 70) -> plt.Figure:
    """One page of a filing as a figure.

    Args:
        study: knows where the filing lies.
        doc_name, page: which page, from 0.
        evidence: text to mark, line by line.
        dpi: resolution of the picture.

    Returns:
        The page as drawn in the PDF, or its text where the filing is given as text.
    """
    drawn, axes = plt.subplots(figsize=(6.2, 8))
    draw_page(axes, study, doc_name, page, evidence, dpi)
    return drawn


def draw_page(axes: plt.Axes, study, doc_name: str, page: int, evidence: str = "", dpi: int = 70) -> None:
    """Draw one page on axes, see :func:`page_picture`."""
    study.need_filings("a page's picture")
    source = study.dataset.source(doc_name)
    if source.suffix == ".pdf":
        axes.imshow(page_raster(source, page, evidence, dpi))
    else:
        text = study.pages.set_index(["doc_name", "page"])["text"][doc_name, page]
        axes.text(
            0.01,
            0.99,
            _plain(text)[:3500],
            va="top",
            fontsize=5,
            family="monospace",
            transform=axes.transAxes,
        )
    axes.set_title(f"{doc_name}, p. {page}", fontsize=9)
    axes.axis("off")


def page_raster(source: Path, page: int, evidence: str, dpi: int) -> np.ndarray:
    """One page of a PDF with its evidence marked, shape (height, width, 3)."""
    with pymupdf.open(source) as pdf:
        sheet = pdf[page]
        for line in {line.strip() for line in evidence.splitlines() if len(line.strip()) > 3}:
            for place in sheet.search_for(line)[:3]:
                sheet.draw_rect(place, color=None, fill=MARK, fill_opacity=0.35, overlay=True)
        picture = sheet.get_pixmap(dpi=dpi, alpha=False)
        return np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.width, 3).copy()


def _plain(text: str) -> str:
    return re.sub(r"\$", r"\\$", text)
