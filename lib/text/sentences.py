"""What a question asks, without its instructions."""

import re

ABBREVIATION = r"(?<!\b[A-Z]\.)(?<!Inc\.)(?<!Corp\.)(?<!Co\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.)"
ASKING_WORD = r"(?i:what|how|which|who|when|where|why|did|does|do|is|was|are|were)\b"
SENTENCE = re.compile(rf"{ABBREVIATION}(?<=[.?!])\s+(?=[A-Z\"'“(])|(?<=:)\s+(?={ASKING_WORD})")


def asking_sentences(question: str) -> str:
    """A question's sentences with a question mark, or all if there is none."""
    sentences = SENTENCE.split(" ".join(question.split()))
    return " ".join(s for s in sentences if "?" in s) or " ".join(sentences)
