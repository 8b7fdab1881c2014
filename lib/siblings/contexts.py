"""The long parts of contextual retrieval as commands: ``python -m lib.siblings.contexts --dataset financebench``.

Without ``--embed`` the filings' contexts are written; with it the prefixed windows are encoded. Both go on where a
killed run was.
"""

import argparse

from lib.queries.filing_context import written
from lib.retrievers.contextual import window_vectors
from lib.study import Study


def write_contexts(study) -> str:
    """Have every filing's context written; a sentence that says how many there are."""
    filled = written(study)
    origins = ", ".join(f"{count} {origin}" for origin, count in sorted(filled.origins.items()))
    return f"contexts: {origins or 'none'}; {len(filled.missing)} missing"


def embed(study, context: str) -> str:
    """Encode the windows with their context; a sentence that says how many there are."""
    owners, vectors = window_vectors(study, context)
    return f"embeddings/contextual-{context}: {len(vectors)} windows of {len(set(owners))} chunks"


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(prog="python -m lib.siblings.contexts", description=__doc__)
    parser.add_argument("--dataset", default="")
    parser.add_argument("--profile", default="default")
    parser.add_argument("--embed", choices=["header", "written"])
    args = parser.parse_args()
    study = Study.open(args.dataset, args.profile, chapter="siblings")
    print(embed(study, args.embed) if args.embed else write_contexts(study))


if __name__ == "__main__":
    main()
