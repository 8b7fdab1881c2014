"""The filings of a folder: which of its files are read, what is wrong with the others, and what is passed over."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lib.data.layout import DOCUMENT_ENDINGS, in_sub_folders
from lib.data.records import CONTROL, Problems, printable

MOST_BYTES = 200  # of a file's name: those of its index are longer
MOST_NAMED = 5  # sub-folders in a message


def file_stat(source: Path, root: Path) -> dict:
    """Path in the archive, size and time of a filing's file."""
    stat = source.stat()
    return {"source": source.relative_to(root).as_posix(), "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def sources_of(root: Path) -> tuple[dict[str, Path], list[str]]:
    """The files of an archive's filings by name (``pages/*.jsonl`` before ``pdfs/*.pdf``, those in its sub-folders, and
    ``*.pdf``; no hidden ones), and what is wrong with files that are none."""
    problems, sources = Problems(root), {}
    for folder, suffix in ((root / "pages", ".jsonl"), (root / "pdfs", ".pdf"), (root, ".pdf")):
        is_there = folder.is_dir() and problems.can_read(folder, is_folder=True)
        nested = in_sub_folders(folder) if folder == root / "pdfs" else ()
        for path in (*sorted(folder.iterdir()), *nested) if is_there else ():
            other = sources.get(path.stem)
            if path.name[0] == "." or path.suffix.lower() != suffix or (other and other.suffix == ".jsonl"):
                continue
            if CONTROL.search(path.name) or len(path.name.encode()) > MOST_BYTES:
                problems.add(path, f"rename the file; at most {MOST_BYTES} bytes, no control characters")
            elif other:
                problems.add(path, f"has the name of {other.relative_to(root)}; rename or remove one of the two")
            elif problems.can_read(path):
                sources[path.stem] = path
    return dict(sorted(sources.items())), problems.messages


def passed_over(root: Path) -> list[str]:
    """What a folder holds that may be a filing and is not read, a line each: in another format, and in sub-folders."""
    read, lines = {root: ".pdf", root / "pdfs": ".pdf", root / "pages": ".jsonl"}, []
    files = [path for folder in read if folder.is_dir() for path in sorted(folder.iterdir()) if path.is_file()]
    others = [path for path in files if path.name[0] != "." and path.suffix.lower() != read[path.parent]]
    if others := [path for path in others if path.suffix.lower() in DOCUMENT_ENDINGS]:
        lines.append(f"{_counted(others)}; save what is a filing as PDF in pdfs/, or as page text in pages/")
    nested = [path for path in in_sub_folders(root) if path.parent not in read and root / "data" not in path.parents]
    nested = [path for path in nested if root / "pdfs" not in path.parents or path.suffix.lower() != ".pdf"]
    if nested:
        folders = list(dict.fromkeys(printable(path.parent.relative_to(root).as_posix()) for path in nested))
        more = f" and {len(folders) - MOST_NAMED} more" if len(folders) > MOST_NAMED else ""
        named = ", ".join(folders[:MOST_NAMED]) + more
        has_pdfs = any(path.suffix.lower() == ".pdf" for path in nested)
        fix = "move the PDFs into pdfs/" if has_pdfs else "save what is a filing as PDF in pdfs/"
        lines.append(f"{_counted(nested)} in sub-folders ({named}); {fix}")
    return lines


def _counted(paths: Sequence[Path]) -> str:
    endings = Counter(path.suffix.lower() for path in paths)
    return ", ".join(f"{n} {ending}" for ending, n in sorted(endings.items()))
