"""What a language model writes for a question before it is searched: rewrites, key terms, expansions.

Multi-query rewriting and the corrective rewrite follow Akarsu et al. (2026) and Yan et al. (2024); key terms and
expansion follow Kim et al. (2025). Prompts are short and hold no example: a model of half a billion parameters copies
it.
"""

import re
from collections.abc import Mapping

from lib.models.prompts import Prompt, Sampling
from lib.models.written import Filled, Item
from lib.study import Study

SYSTEM = "You write search queries."
TEMPLATES = {
    "rewrites": "Write {n} paraphrases of the question, numbered 1 to {n}, one a line. "
    "Keep the company and the year. Do not answer it.\n\nQuestion: {question}",
    "keywords": "Copy the key terms of the question, with commas between. Do not answer it.\n\n"
    "Question: {question}\n\nKey terms:",
    "expansion": "List ten accounting terms that go with the question, with commas between. Do not answer it.\n\n"
    "Question: {question}\n\nAccounting terms:",
    "correction": "Rewrite the question as one short search query. Do not answer it.\n\nQuestion: {question}\n\nQuery:",
}
_NUMBER = re.compile(r"^\W*(?:(?:query|question|paraphrase)\s*)?\d+\s*[.):]\W*", re.IGNORECASE)
_LEAD = re.compile(r"^(?:question|query|key terms|accounting terms)\s*:\s*", re.IGNORECASE)


def write(study: Study, kind: str, asked: Mapping[str, str] | None = None) -> Filled:
    """One text of a kind for each question, from the log or written now.

    Args:
        study: gives the questions, the log and the settings, ``sibling_texts.<kind>`` and ``sibling_texts.seed``.
        kind: one of TEMPLATES.
        asked: question id to question; by default every question of the study.

    Returns:
        ``texts`` by question id, without the questions that nothing was written for, and the reasons for these.
    """
    settings, seed = study.profile.sibling_texts[kind], study.profile.sibling_texts.seed
    sampling = Sampling(settings["max_tokens"], settings.get("temperature", 0.0), seed=seed)
    items = []
    for question_id, question in (questions_of(study) if asked is None else asked).items():
        user = TEMPLATES[kind].format(question=question, n=settings.get("n"))
        items.append(Item(question_id, question_id, Prompt(user, SYSTEM), sampling))
    return study.generation_log().fill(kind, items, study.make_generator)


def questions_of(study: Study) -> dict[str, str]:
    """Question id to question, in the study's order."""
    return dict(zip(study.questions["question_id"], study.questions["question"], strict=True))


def numbered(text: str, n: int) -> list[str]:
    """The first ``n`` numbered lines of a text, or its lines where none has a number; without numbers and quotes.

    Fewer lines give fewer texts: none is made up.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    with_number = [line for line in lines if _NUMBER.match(line)]
    bare = [_bare(_NUMBER.sub("", line)) for line in with_number or lines]
    return [line for line in bare if line][:n]


def rewrites(study: Study) -> dict[str, list[str]]:
    """The different rewrites of each question; a copy of the question or of an earlier rewrite is left out."""

    def find() -> dict[str, list[str]]:
        written, n = write(study, "rewrites").texts, study.profile.sibling_texts.rewrites.n
        found = {}
        for question_id, question in questions_of(study).items():
            texts = numbered(written.get(question_id, ""), n)
            found[question_id] = different([question, *texts])[1:]
        return found

    return study.memo("rewrites", find)


def different(texts: list[str]) -> list[str]:
    """The texts without those whose words, in any case, stand earlier."""
    first_of: dict[tuple[str, ...], str] = {}
    for text in texts:
        first_of.setdefault(tuple(text.lower().split()), text)
    return list(first_of.values())


def terms(text: str) -> str:
    """The different terms of a list that commas or lines part, with commas between."""
    parts = [
        _bare(_NUMBER.sub("", part).lstrip("-•* "))
        for part in re.split(r",(?!\d)|\n", _LEAD.sub("", text.strip()))
    ]
    return ", ".join(different([part for part in parts if part]))


def one_line(text: str) -> str:
    """A text's words on one line, without what it begins with before its content (``Query:``) and without quotes."""
    return _bare(_LEAD.sub("", " ".join(text.split()).strip("\"'` ")))


def _bare(text: str) -> str:
    return text.strip().strip("\"'`*").strip()
