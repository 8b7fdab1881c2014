"""Other question sets than a study's, and the study's under another profile, opened as the study was.

A function that may find nothing here or published of another set says so in its first line; no other module of ``lib``
opens one.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType

from lib.ahead.sets import SETS
from lib.data.locate import UNSEEN
from lib.published import Published
from lib.schema import NeedsFilings, StudyError, or_without_filings
from lib.studies import open_study
from lib.study import Study

BETTER = "base"  # the profile of the better encoder
KNOWN = ("financebench", "page-questions")  # analysts' questions, and those that were written from a page
DEMO: Mapping[str, str] = MappingProxyType(
    {"dataset": "demo", "questions": "", "profile": "default", "results": "published"}
)


def open_other(study: Study, **names: str) -> Study:
    """The study of the same names but for those given: ``dataset``, ``questions``, ``profile`` or ``results``.

    It prints nothing and writes to its own folder. A StudyError where it is neither here nor published.
    """
    given = study.names._asdict() | names
    other = open_study(**given, chapter=study.chapter, artifacts=study.artifacts, say=lambda line: None)
    return other.replaced(outputs=other.home)


def with_text(study: Study) -> Study:
    """The study where its filings are on this machine; else the demo, whose texts may be published."""
    return study if study.has_text else open_other(study, **DEMO)


def over_same_filings(study: Study, questions: Iterable[str] | None = None) -> dict[str, Study]:
    """The study and those question sets over its filings that are here or published, by name, in the order of KNOWN.

    ``questions`` are sets as :func:`lib.studies.open_study` takes them, an empty one for the dataset's own; by default
    all that are measured beside it.
    """
    if questions is None:
        collection = study.dataset.collection
        questions = ("", *SETS[collection]) if collection in SETS else ()
    found = {study.dataset.name: study}
    for name in questions:
        with suppress(StudyError):
            other = open_other(study, questions=name)
            if other.dataset.filings_digest == study.dataset.filings_digest:
                found.setdefault(other.dataset.name, other)
    return {name: found[name] for name in sorted(found, key=lambda name: (*KNOWN, name).index(name))}


def unseen_study(study: Study) -> Study:
    """The questions about unseen companies under the study's profile: itself where it is them, with their filings where
    these are here, else as published; NeedsFilings where neither is."""
    if study.dataset.name == UNSEEN:
        return study
    results = "fresh" if study.names.results == "fresh" else "published"
    try:
        return open_other(study, dataset=UNSEEN, questions="", results=results)
    except StudyError as missing:
        raise NeedsFilings(f"{UNSEEN} under profile {study.profile.name}: {missing}") from None


def unseen_beside(study: Study) -> Study | None:
    """:func:`unseen_study` of FinanceBench, beside which the first page shows it; None of other questions, and where it
    is neither published nor here."""
    return or_without_filings(lambda: unseen_study(study)) if study.dataset.name == "financebench" else None


def with_other_sets(study: Study) -> dict[str, Study]:
    """The study, the other question sets over its filings, and unseen companies where the study is FinanceBench; those
    that are published or here, by name."""
    found, unseen = over_same_filings(study), unseen_beside(study)
    return found | ({unseen.dataset.name: unseen} if unseen else {})


def published_beside(study: Study) -> dict[str, Published]:
    """What is published of other question sets, by name: over the same filings, and beside FinanceBench UNSEEN."""
    others = {name: one for name, one in Published.all(study.profile.name).items() if name != study.dataset.name}
    beside = {study.dataset.collection, *([UNSEEN] if study.dataset.name == "financebench" else [])}
    return {name: one for name, one in others.items() if one.manifest.get("collection", name) in beside}


def with_both_encoders(study: Study) -> dict[str, tuple[Study, Study]]:
    """The question sets over a study's filings that are published with both encoders, by name; its own comes first."""
    collection, own, found = study.dataset.collection, study.profile.name, {}
    for name in dict.fromkeys((study.dataset.name, *SETS.get(collection, ()))):
        if own != BETTER and Published.of(name, own) and Published.of(name, BETTER):
            names = {"questions": "" if name == collection else name, "results": "published"}
            first = study if name == study.dataset.name else open_other(study, **names)
            found[name] = first, open_other(study, **names, profile=BETTER)
    return found
