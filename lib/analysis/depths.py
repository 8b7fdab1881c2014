"""Fill the cross-encoder's scores of every rerank depth: ``python -m lib.analysis.depths --dataset financebench``.

Scores are kept pair by pair, so a killed run goes on where it was, and a depth holds the smaller ones.
"""

import argparse
import sys

import pandas as pd

from lib.command import open_study, status_of, study_parser
from lib.retrievers.rerank import pool_scores
from lib.retrievers.rerank_depth import HEAD_TOKENS
from lib.words import CONDITIONS, Condition

#: First stage and the most chunks of it that are reranked.
POOLS = {"hybrid_rrf": 50, "dense": 100}


def pool(study, condition: Condition) -> pd.DataFrame:
    """Every pair that a row reads under a condition, once, the shallow ones first: question_id and chunk_id."""
    allowed = study.candidates(condition)
    lists = [study.rank_method(name, allowed, n) for name, n in POOLS.items()]
    table = pd.concat(lists).sort_values("rank", kind="stable")
    return table.drop_duplicates(["question_id", "chunk_id"], ignore_index=True)


def main() -> int:
    """Score the pairs of the given condition."""
    parser = study_parser("lib.analysis.depths", main.__doc__)
    parser.add_argument("--condition", default="standard", choices=CONDITIONS)
    parser.add_argument("--limit", type=int, help="score so many pairs only, to see how long they take")
    return status_of(score_pairs, parser.parse_args())


def score_pairs(args: argparse.Namespace) -> None:
    """What the command line asks for."""
    study = open_study(args, "siblings")
    pairs = pool(study, args.condition)[: args.limit]
    pool_scores(study, pairs, HEAD_TOKENS)
    print(f"{args.condition}: {len(pairs)} pairs scored")


if __name__ == "__main__":
    sys.exit(main())
