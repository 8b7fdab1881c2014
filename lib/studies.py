"""Opening a study by the names that notebooks and commands are given."""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lib.chunkings.table import CHUNKINGS
from lib.data.locate import UNSEEN, financebench_root, name_of, open_dataset, questions_root, unseen_root
from lib.files import ARTIFACTS, ROOT, digest_of, write_atomically
from lib.method_sets import chosen, measured
from lib.methods import METHODS
from lib.profile import PROFILES, Settings, load_profile, path_of
from lib.published import Published, TextsOnly
from lib.schema import USES, Names, StudyError
from lib.study import Study

OUTPUTS_VARIABLE = "RETRIEVAL_GAP_OUTPUTS"
NOTEBOOKS = ROOT / "notebooks"
PRICES = ("core_hour", "gib_month")  # parameters of the chapter on growth
#: What the chapters' parameters are, if nobody changes them; those that are not here are empty.
DEFAULTS = {"k": 5, "second": "page-questions", "core_hour": 0.05, "gib_month": 0.10}
OWNER = "profile.path"  # in a folder of results: the file of the profile that they are of


def open_study(
    dataset: str = "",
    profile: str = "default",
    results: str = "published",
    chapter: str = "",
    changes: dict[str, object] | None = None,
    artifacts: Path = ARTIFACTS,
    say: Callable[[str], None] = print,
    questions: str = "",
    **parameters: object,
) -> Study:
    """A study by names, as the notebooks' parameters give them.

    Args:
        dataset: ``financebench``, ``unseen-companies``, ``demo``, a path, or empty: FinanceBench where it is on this
            machine, else what was published of it, else the demo.
        profile: name of a profile or path of a YAML file.
        results: ``published`` to use published results where they have the wanted keys, ``texts`` to use of these what
            language models wrote, ``fresh`` to compute all.
        chapter: name of the asking chapter, such as ``03_baselines``.
        changes: dotted settings that replace the profile's.
        questions: another question set over the dataset's filings: a folder with ``data/*questions*.jsonl``, or the
            name of a published one; empty for the dataset's own.
        parameters: the chapter's other parameters. Where one is not its DEFAULTS, or a setting is changed, outputs go
            to a folder beside the book's; all go to the one that OUTPUTS_VARIABLE names, if it is set.

    A StudyError names what does not exist or cannot be used, or a parameter that cannot have its value.
    """
    for name, given in (("dataset", dataset), ("profile", profile), ("questions", questions)):
        if not isinstance(given, str):
            raise StudyError(f"{name} is {given!r}: give a name or a path")
    if results not in USES:
        raise StudyError(f"results is {results!r}; choose from {', '.join(USES)}")
    settings = load_profile(profile)
    named = questions or (dataset if dataset == UNSEEN else "")
    published = published_of(named, settings.name) if results == "published" else None
    if published and not is_here(dataset, questions):
        what = f"The questions of {named}, or their filings," if named else "FinanceBench's filings"
        say(f"{what} are not here. {published.sentence} To compute all, choose the dataset demo and results texts.")
        found, settings = published.dataset(), without_unpublished(published, published.settings(settings), say)
    else:
        found = open_dataset(dataset, questions, Path(artifacts))
        settings = settings.for_sets(found.collection, found.name)
        layer = {"published": Published, "texts": TextsOnly}.get(results)
        published = layer and layer.of(found.name, settings.name)
        if published and published.manifest["fingerprint"] != found.fingerprint:
            say(f"{found.root} is not the dataset that was published as {found.name}: nothing published is used")
            published = None
    changed = {name: value for name, value in (changes or {}).items() if value is not None}
    if changed:
        settings = settings.replaced(changed)
    ks = settings.metrics.ks
    k = parameters.get("k", ks[0])
    if type(k) is not int or k not in ks:
        raise StudyError(f"k is {k!r}; choose from {', '.join(map(str, ks))}, or add it to metrics.ks of the profile")
    changed |= changed_parameters(parameters)
    check_parameters(changed, settings.name)
    home = Path(artifacts) / found.name / settings.name
    claim(home, path_of(profile).resolve())
    beside = home / "reruns" / f"{chapter}-{digest_of(changed)[:12]}" if changed else home
    outputs = Path(os.environ.get(OUTPUTS_VARIABLE) or beside)
    return Study(
        found,
        settings,
        METHODS,
        CHUNKINGS,
        artifacts,
        published,
        outputs,
        chapter,
        Names(dataset, profile, results, questions),
        parameters,
    )


def check_parameters(given: dict[str, object], profile: str) -> None:
    """A StudyError where a parameter of a chapter cannot have its value; question sets are sought under a profile."""
    for name, value in given.items():
        if name in ("methods", "baselines", "baseline") and value is not None:
            chosen([value] if name == "baseline" else value, what=name)
        if name == "second" and not (
            isinstance(value, str) and (questions_root(value) or published_of(value, profile))
        ):
            raise StudyError(f"second is {value!r}: no question set; give a folder or the name of a published one")
        if name in PRICES and not (type(value) in (int, float) and 0 <= value < math.inf):
            raise StudyError(f"{name} is {value!r}: give a price in USD such as 0.01, not below 0")


def without_unpublished(published: Published, settings: Settings, say: Callable[[str], None]) -> Settings:
    """The settings of a study without filings, in which rows that have no published run are not measured."""
    published_rows = {place.partition("/")[2] for place in published.manifest["runs"]}
    other = published.redefined(settings)

    def is_published(name: str) -> bool:
        row = METHODS[name]
        return name in published_rows and other.isdisjoint(row.settings) and all(map(is_published, row.uses))

    unpublished = [name for name in dict.fromkeys(name for name, _ in measured(settings)) if not is_published(name)]
    if not unpublished:
        return settings
    say(f"Left out, as no run of them is published and the filings are not here: {', '.join(unpublished)}")
    return settings.replaced({"siblings.without": [*settings.siblings.without, *unpublished]})


def published_of(questions: str, profile: str) -> Published | None:
    """What is published of a question set, by default FinanceBench; none of a text that cannot be a folder's name."""
    with suppress(OSError, RuntimeError, ValueError):
        return Published.of(name_of(questions) if questions else "financebench", profile)
    return None


def claim(home: Path, profile: Path) -> None:
    """Note in a folder of results which profile's they are; a StudyError where they are another's of the same name,
    which still exists and differs. A profile of the repository has its name alone."""
    if profile.parent == PROFILES:
        return
    record = home / OWNER
    known = Path(os.fsdecode(record.read_bytes())) if record.is_file() else None
    if known and known != profile and known.is_file() and known.read_bytes() != profile.read_bytes():
        raise StudyError(f"{home} has the results of another profile of this name, {known}; rename {profile}")
    if known != profile:
        write_atomically(record, os.fsencode(profile))


def is_here(dataset: str, questions: str = "") -> bool:
    """Whether the filings and the questions of what is named lie on this machine, or are to be downloaded."""
    filings = unseen_root() if dataset == UNSEEN else dataset or financebench_root()
    return bool(filings) and bool(not questions or questions_root(questions))


def changed_parameters(given: dict[str, object]) -> dict[str, object]:
    """The parameters whose values are not those of the chapters as they are published: a notebook may have been saved
    with others."""
    return {name: value for name, value in given.items() if value != DEFAULTS.get(name)}
