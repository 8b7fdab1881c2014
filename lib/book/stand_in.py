"""Where a chapter's cell needs filings that are not here, what the published run showed stands in for it.

Publishing keeps what every cell showed (tables and figures as MyST, with their CSV and PNG), by a digest of the cell's
code; so an output can only stand in for the code that made it.
"""

import ast
import hashlib
import re
import shutil
from pathlib import Path

import nbformat

from lib.absent import MARK
from lib.published import Published

FILES = re.compile(r"\.\./((?:tables|figures)/[\w.-]+)")


def cell_digest(source: str) -> str:
    """What identifies a cell's code, blind to comments and layout: 16 hex digits."""
    return hashlib.sha256(ast.dump(ast.parse(source)).encode()).hexdigest()[:16]


def shown_by(cell: nbformat.NotebookNode) -> list[str]:
    """The markdown that a cell shows."""
    outputs = [out for out in cell.get("outputs", []) if MARK not in out.get("metadata", {})]
    return [
        "".join(out["data"]["text/markdown"]) for out in outputs if "text/markdown" in out.get("data", {})
    ]


def files_of(markdown: str) -> list[str]:
    """The files of the view that an output shows or links, such as ``tables/oracles.csv``."""
    return list(dict.fromkeys(FILES.findall(markdown)))


def put(notebook: nbformat.NotebookNode, published: Published, view: Path) -> None:
    """Replace, in place, the one-line outputs of cells without filings by what was published of them.

    Args:
        notebook: an executed chapter.
        published: holds ``shown/cells.json`` and the files that its outputs link.
        view: gets these files.
    """
    for cell in notebook.cells:
        if not any(MARK in out.get("metadata", {}) for out in cell.get("outputs", [])):
            continue
        outputs = published.shown.get(cell_digest(cell.source), [])
        for name in {name for markdown in outputs for name in files_of(markdown)}:
            (view / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(published.root / "shown" / name, view / name)
        if outputs:
            texts = [
                text.replace(" {download}`CSV", f" {published.sentence} {{download}}`CSV") for text in outputs
            ]
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/markdown": text}) for text in texts]
