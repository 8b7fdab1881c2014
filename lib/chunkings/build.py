"""Make chunk tables and their vectors ahead of the runs: ``python -m lib.chunkings.build --only elements``.

Everything goes into the store as it is made, so a killed call goes on where it was.
"""

import argparse
import sys
import time

from lib.chunkings import CORPORA
from lib.chunkings.embedding import reused, window_vectors_of
from lib.command import open_study, status_of, study_parser
from lib.retrievers.element_metadata import metadata_vectors


def main() -> int:
    """Make chunk tables ahead of the runs, and say of each how large it is and how long it took."""
    parser = study_parser("lib.chunkings.build", main.__doc__)
    parser.add_argument("--only", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--tables", action="store_true", help="the tables only, without vectors")
    parser.add_argument("--metadata", action="store_true", help="the vectors of the elements' metadata too")
    return status_of(build_all, parser.parse_args())


def build_all(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "corpora")
    for name in args.only:
        print(build(study, name, with_vectors=not args.tables), flush=True)
    if args.metadata:
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
    sys.exit(main())
