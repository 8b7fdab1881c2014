"""Make chunk tables and their vectors ahead of the runs: ``python -m lib.corpora.build --only elements``.

Everything goes into the store as it is made, so a killed call goes on where it was.
"""

import argparse
import time

from lib.corpora import CORPORA
from lib.corpora.embedding import reused, window_vectors_of
from lib.retrievers.element_metadata import metadata_vectors
from lib.study import Study


def main(arguments: list[str] | None = None) -> None:
    """Make what was asked for, and say of each table how large it is and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--dataset", default="", help="financebench, demo or a folder; empty: the first there is"
    )
    parser.add_argument("--profile", default="default")
    parser.add_argument("--only", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--tables", action="store_true", help="the tables only, without vectors")
    parser.add_argument("--metadata", action="store_true", help="the vectors of the elements' metadata too")
    given = parser.parse_args(arguments)
    study = Study.open(given.dataset, given.profile, chapter="corpora")
    for name in given.only:
        print(build(study, name, with_vectors=not given.tables), flush=True)
    if given.metadata:
        n_texts = len(metadata_vectors(study.over("elements"))[0])
        print(f"element metadata: {n_texts} texts", flush=True)


def build(study, name: str, with_vectors: bool = True) -> str:
    """Make one table, and its vectors; what was made, as a line."""
    started = time.perf_counter()
    over = study.over(name)
    line = f"{name}: {len(over.chunks)} chunks ({time.perf_counter() - started:.0f} s)"
    if name == "aggregate":
        return f"{line}, vectors of its parts"
    counts = reused(over)
    line += (
        f", {counts['windows']} windows, {counts['reused']} as in the study, {counts['new']} texts to encode"
    )
    if with_vectors:
        started = time.perf_counter()
        window_vectors_of(over)
        line += f" ({time.perf_counter() - started:.0f} s)"
    return line


if __name__ == "__main__":
    main()
