"""Draws the demo dataset: ``python tools/demo/draw.py`` writes ``data/demo``; with ``--check`` it only compares."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.demo import asked_freely, asked_of_domain, asked_of_metrics  # noqa: E402
from tools.demo.corpus import Filing, filings, ledgers  # noqa: E402
from tools.demo.questions import records  # noqa: E402

COMMITTED = ROOT / "data" / "demo"


def write_demo(target: Path) -> None:
    """Write the demo dataset below ``target``, over what an earlier call wrote there.

    Writes ``data/financebench_open_source.jsonl``, ``data/financebench_document_information.jsonl`` and
    ``pdfs/<doc_name>.pdf``; page numbers are counted from 0.
    """
    books = ledgers()
    drawn = filings(books)
    modules = (asked_of_metrics, asked_of_domain, asked_freely)
    asked = [question for module in modules for question in module.questions(books)]
    (target / "data").mkdir(parents=True, exist_ok=True)
    (target / "pdfs").mkdir(exist_ok=True)
    for filing in drawn:
        (target / "pdfs" / f"{filing.doc_name}.pdf").write_bytes(filing.pdf)
    _write_lines(target / "data" / "financebench_open_source.jsonl", records(asked, drawn))
    _write_lines(target / "data" / "financebench_document_information.jsonl", map(_information, drawn))


def _information(filing: Filing) -> dict:
    return {
        "doc_name": filing.doc_name,
        "company": filing.company.short,
        "gics_sector": filing.company.sector,
        "doc_type": filing.doc_type,
        "doc_period": filing.doc_period,
        "doc_link": "",
    }


def _write_lines(path: Path, rows: Iterable[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def differences(target: Path = COMMITTED) -> list[str]:
    """The files of ``target`` that are not what is drawn now, by name: missing, additional or with other bytes."""
    with tempfile.TemporaryDirectory() as folder:
        write_demo(Path(folder))
        drawn, committed = _contents(Path(folder)), _contents(target)
    return sorted(name for name in drawn | committed if drawn.get(name) != committed.get(name))


def _contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def main() -> int:
    """Draw ``data/demo`` again, or compare it with what is drawn now."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    if not parser.parse_args().check:
        write_demo(COMMITTED)
        return 0
    for name in (found := differences()):
        print(f"data/demo/{name} is not what tools/demo draws")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
