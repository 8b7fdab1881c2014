"""A question as three queries: as it stands, its core, and its core with the names of the statements it needs.

Questions of analysts come with instructions (``Answer in USD millions``, ``Assume that you are ...``) whose words
stand on no page; what is asked stands in the sentence with the question mark.
"""

import re
from collections.abc import Sequence

from lib.ahead.page_kinds import STATEMENTS, kinds, question_wants

ABBREVIATION = r"(?<!\b[A-Z]\.)(?<!Inc\.)(?<!Corp\.)(?<!Co\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.)"
ASKING_WORD = r"(?i:what|how|which|who|when|where|why|did|does|do|is|was|are|were)\b"
SENTENCE = re.compile(rf"{ABBREVIATION}(?<=[.?!])\s+(?=[A-Z\"'“(])|(?<=:)\s+(?={ASKING_WORD})")
DEFINITION = re.compile(r"\b(?:defined? as|define|equals?|calculated as|means)\b", re.I)
QUERIES = ("full", "core", "expanded")


def core_question(question: str) -> str:
    """The sentences that ask, without instructions; the whole text where no sentence has a question mark.

    ``Answer in USD billions. What is net PP&E? Round it.`` becomes ``What is net PP&E?``
    """
    sentences = SENTENCE.split(" ".join(question.split()))
    asking = [sentence for sentence in sentences if "?" in sentence]
    return " ".join(asking) or " ".join(sentences)


def definitions(question: str) -> str:
    """The sentences that define a measure; they name line items."""
    sentences = SENTENCE.split(" ".join(question.split()))
    return " ".join(s for s in sentences if "?" not in s and DEFINITION.search(s))


def expanded(questions: Sequence[str]) -> list[str]:
    """Each core question with its definitions and the usual titles of the primary statements that it needs."""
    asked, implied = question_wants(questions)
    wanted = asked | implied
    columns = {statement: list(kinds()).index(statement) for statement in STATEMENTS}
    texts = []
    for question, row in zip(questions, wanted, strict=True):
        titles = [kinds()[name]["title"][0] for name, column in columns.items() if row[column]]
        texts.append(" ".join([core_question(question), definitions(question), *titles]).strip())
    return texts


def queries(questions: Sequence[str]) -> dict[str, list[str]]:
    """QUERIES of each question."""
    return {
        "full": [" ".join(question.split()) for question in questions],
        "core": [core_question(question) for question in questions],
        "expanded": expanded(questions),
    }
