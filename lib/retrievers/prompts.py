"""What the retrievers have a language model write: their prompts (``prompts.yaml``), and how they are written."""

from collections.abc import Mapping
from pathlib import Path

from lib.files import read_yaml
from lib.method import Search, memoized
from lib.models.prompts import Prompt, Sampling
from lib.models.written import Filled, Item
from lib.profile import Settings

TEMPLATES: dict[str, str] = read_yaml(Path(__file__).with_name("prompts.yaml"))
SYSTEM = {"judge": "You judge whether a document helps to answer a question. Answer with one word."}
SYSTEM |= dict.fromkeys(("rewrites", "keywords", "expansion", "correction"), "You write search queries.")
MAY_BE_CUT = ("judge", "selection")  # a beginning is enough
CONTEXT = Settings({"max_tokens": 80, "seed": 0})  # how a filing's context is written, under every profile


def settings_of(search: Search, kind: str) -> Settings:
    """How texts of a kind are written, and how many."""
    if kind == "filing_context":
        return CONTEXT
    if kind == "hyde":
        return search.profile.hyde
    texts = search.profile.sibling_texts
    return Settings({"seed": texts.seed} | texts[kind])


def asked(search: Search) -> dict[str, dict[str, str]]:
    """Question id to what fills a template that reads the question alone, in the study's order."""
    pairs = zip(search.questions["question_id"], search.questions["question"], strict=True)
    return {question_id: {"question": question} for question_id, question in pairs}


def prompt(kind: str, fields: Mapping[str, object]) -> Prompt:
    """The prompt of a kind of TEMPLATES."""
    return Prompt(TEMPLATES[kind].format(**fields), SYSTEM.get(kind))


def write(search: Search, kind: str, fields: Mapping[str, Mapping], about: Mapping[str, str] | None = None) -> Filled:
    """The texts of a kind of TEMPLATES by id, from the log or written now; what is missing the log reports.

    ``fields`` fill the template of each id, ``about`` is the question or filing it is for where that is not the id.
    With ``n_passages`` in the settings, texts are by ``id/number``, each drawn with ``seed + number``.
    """
    settings, items = settings_of(search, kind), []
    for name, given in fields.items():
        filled = prompt(kind, {"n": settings.get("n"), **given})
        for number, text_id in enumerate(_ids(name, settings)):
            sampling = Sampling(settings.max_tokens, settings.get("temperature", 0.0), seed=settings.seed + number)
            items.append(Item(text_id, about[name] if about else name, filled, sampling))
    return search.generation_log().fill(kind, items, search.make_generator, may_be_cut=kind in MAY_BE_CUT)


def _ids(name: str, settings: Settings) -> list[str]:
    n = settings.get("n_passages")
    return [f"{name}/{number}" for number in range(n)] if n else [name]


@memoized
def with_texts(search: Search, kind: str) -> list[tuple[str, list[str]]]:
    """Each question and the texts of a kind that were written for it: one, or ``n_passages``, without the missing."""
    fields, settings = asked(search), settings_of(search, kind)
    texts = write(search, kind, fields).texts
    ids = {name: [one for one in _ids(name, settings) if one in texts] for name in fields}
    return [(fields[name]["question"], [texts[one] for one in of]) for name, of in ids.items()]
