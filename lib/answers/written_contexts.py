"""Long parts of contextual retrieval as commands: ``python -m lib.answers.written_contexts --dataset financebench``.

Without ``--embed`` the filings' contexts are written; with it the prefixed windows are encoded. Both go on where a
killed run was.
"""

import argparse
import sys

from lib.command import open_study, status_of, study_parser
from lib.retrievers.contextual import window_vectors
from lib.retrievers.filing_context import written


def write_contexts(study) -> str:
    """Have every filing's context written; a sentence that says how many there are."""
    filled = written(study)
    origins = ", ".join(f"{count} {origin}" for origin, count in sorted(filled.origins.items()))
    return f"contexts: {origins or 'none'}; {len(filled.missing)} missing"


def embed(study, context: str) -> str:
    """Encode the windows with their context; a sentence that says how many there are."""
    owners, vectors = window_vectors(study, context)
    return f"embeddings/contextual-{context}: {len(vectors)} windows of {len(set(owners))} chunks"


def main() -> int:
    """Have the contexts written, or windows with them encoded."""
    parser = study_parser("lib.answers.written_contexts", main.__doc__)
    parser.add_argument("--embed", choices=["header", "written"], help="encode the windows behind it")
    return status_of(make, parser.parse_args())


def make(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "siblings")
    print(embed(study, args.embed) if args.embed else write_contexts(study))


if __name__ == "__main__":
    sys.exit(main())
