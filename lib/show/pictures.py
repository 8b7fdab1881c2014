"""Pages drawn as pictures, with the evidence marked where it stands."""

import io
import re

import matplotlib.pyplot as plt
from PIL import Image

from lib.analysis.decomposition import locate
from lib.data.pdf import picture
from lib.retrievers.places import texts_of_pages
from lib.show.drawn import OF_DEMO, OF_FILING
from lib.show.figures import blank
from lib.study import Study

NOT_SPACE = re.compile(r"\S+")


def draw_page(axes: plt.Axes, study: Study, doc_name: str, page: int, evidence: str, dpi: int) -> None:
    """Draw one page (from 0) as in the PDF, or its text where the filing is given as text; the evidence is marked."""
    study.need_filings("a page's picture")
    source = study.dataset.source(doc_name)
    if source.suffix.lower() == ".pdf":
        axes.imshow(Image.open(io.BytesIO(picture(source, int(page), dpi, evidence))))
    else:
        text = texts_of_pages(study)[doc_name, page]
        shown, style = marked_lines(text, evidence), {"fontsize": 5, "family": "monospace"}
        axes.text(0.0, 0.99, shown, va="top", parse_math=False, transform=axes.transAxes, **style)
    axes.set_title(f"{doc_name}, page {page + 1}", fontsize=9)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color="#999999")
    axes.set_gid(OF_DEMO if study.dataset.collection == "demo" else OF_FILING)


def marked_lines(text: str, evidence: str, width: int = 100, n_lines: int = 75) -> str:
    """A page's text as lines of one width, each with a bar before it where half of its words are of the evidence."""
    at = set(locate(evidence, text)) if evidence.strip() else set()
    lines, line, n_marked = [], [], 0
    for word in [*NOT_SPACE.finditer(text), None]:
        if word is None or len(" ".join([*line, word.group()])) > width:
            lines.append(("▌ " if line and 2 * n_marked >= len(line) else "  ") + " ".join(line))
            line, n_marked = [], 0
        if word is not None:
            line.append(word.group())
            n_marked += any(place in at for place in range(word.start(), word.end()))
    return "\n".join(lines[:n_lines] + (["  …"] if len(lines) > n_lines else []))


def page_pair(study: Study, gold: tuple[str, int], evidence: str, other: tuple[str, int], head: str) -> plt.Figure:
    """A gold page with its evidence marked, beside another page with ``head`` above it; filing and page of both."""
    drawn = blank(5, n_panels=2)
    left, right = drawn.axes
    draw_page(left, study, *gold, evidence, dpi=100)
    draw_page(right, study, *other, "", dpi=100)
    left.set_title(f"gold: {left.get_title()}", fontsize=9)
    right.set_title(f"{head}: {right.get_title()}", fontsize=9)
    return drawn
