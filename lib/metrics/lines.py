"""How much of the evidence stands in what is read, line by line: a chunk of a gold page may lack what is asked for.

The lines of a question's evidence are those of its text, and in them sentences and cells of tables. They are compared
by their letters and digits alone, as texts of one page differ in signs and spaces.
"""

import re
import unicodedata

import numpy as np
import pandas as pd

from lib.metrics.frame import Metric
from lib.metrics.retrieval import is_gold

SHORTEST = 4  # letters and digits of a line that counts
BREAKS = re.compile(r"\n|&|\\\\|(?<=[.!?])\s")
SIGNS = re.compile(r"[\W_]+")


def lettered(text: str) -> str:
    """A text's letters and digits, in lower case."""
    return SIGNS.sub("", unicodedata.normalize("NFKC", text).lower())


def evidence_lines(evidence: str) -> list[str]:
    """The different lines of a text, :func:`lettered`; the whole of it where each is shorter than SHORTEST."""
    lines = dict.fromkeys(map(lettered, BREAKS.split(evidence)))
    return [line for line in lines if len(line) >= SHORTEST] or [lettered(evidence)]


def joined(spans: pd.DataFrame) -> str:
    """The texts of spans of one page (text, start, end), :func:`lettered`, a line each; one where they overlap, so that
    a line that is cut between two is whole. Spans without places (start of -1) are each on their own."""
    parts, reached = [], -1
    for text, start, end in spans[["text", "start", "end"]].sort_values(["start", "end"]).itertuples(index=False):
        if 0 <= start <= reached:
            parts[-1] += text[reached - start :]
        else:
            parts.append(text)
        reached = max(reached, end)
    return "\n".join(map(lettered, parts))


def line_recall(read: pd.DataFrame, questions: pd.DataFrame) -> pd.Series:
    """The share of the lines of each question's evidence that stand in the chunks that are read of its gold pages.

    ``read``: question_id, doc_name, page, text, start and end of chunks. Indexed by question_id; 0 without chunks.
    """
    seen = read[is_gold(read, questions)]
    texts = {of: joined(spans) for of, spans in seen.groupby(["question_id", "doc_name", "page"])}
    of_question = pd.Series(texts, dtype=object).groupby(level=0).agg("\n".join) if texts else {}
    shares = [
        np.mean([line in of_question.get(one.question_id, "") for line in evidence_lines(one.evidence)])
        for one in questions.itertuples()
    ]
    return pd.Series(shares, pd.Index(questions["question_id"]), float, "line_recall")


METRIC = Metric("line_recall", "Lines of the evidence", "this study", line_recall)
