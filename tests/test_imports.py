"""What the chapters import comes without what takes seconds to load and few of them use."""

import ast
import subprocess
import sys

import nbformat

from lib.files import ROOT
from lib.studies import NOTEBOOKS

HEAVY = {"torch", "transformers", "sentence_transformers", "chromadb", "lightgbm", "onnxruntime"}
HEAVY |= {"papermill", "pymupdf", "sacrebleu", "scipy.stats", "sklearn"}


def imports_of(path) -> list[str]:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    nodes = (node for cell in cells for node in ast.parse(cell).body)
    return [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def test_chapters_import_nothing_that_takes_seconds():
    lines = dict.fromkeys(line for path in NOTEBOOKS.glob("*.ipynb") for line in imports_of(path))
    assert any(line.startswith("from lib.studies import") for line in lines)
    code = "\n".join([*lines, f"import sys; print(*{HEAVY!r} & sys.modules.keys())"])
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
