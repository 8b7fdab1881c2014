"""Profiles: which models and sizes a study uses, read from YAML and checked."""

from collections.abc import Iterable, Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from annotated_types import Interval, MinLen
from pydantic import AfterValidator, ConfigDict, StringConstraints, ValidationError, create_model

from lib.schema import StudyError

PROFILES = Path(__file__).resolve().parent.parent / "notebooks" / "profiles"
MOST = 2**32 - 2  # as the largest seed is: llama.cpp takes one more for any
SPECIAL_TOKENS = 2  # that an encoder puts around a text, inside its window
#: What settings of a name may be, beside what the type of their value in the default profile says.
MAY_BE_0 = "overlap window_overlap seed seeds fold_seeds".split()
SHARES = "b warmup feature_share page_share shares right_from".split()
#: Ends of settings, by dotted name or its last part: outside, what computes with one fails or takes all memory.
LEAST = {
    **dict.fromkeys(["n_folds", "inner_folds", "leaves"], 2),
    **dict.fromkeys(["window", "page_scorer.max_tokens", "page_scorer_light.max_tokens"], SPECIAL_TOKENS + 1),
    **dict.fromkeys(["feature_share", "page_share"], 0.1),
    "ahead.learning_rate": 1e-9,
}
LARGEST = {
    **dict.fromkeys(["learning_rate", "learning_rates"], 1),
    **dict.fromkeys(["n_slots", "n_threads", "n_passages", "sibling_texts.rewrites.n"], 1000),
    **dict.fromkeys(["max_active_dims", "leaves", "rank"], 2**16),
    **dict.fromkeys(["n_draws", "min_pages"], 10**6),
}


def each_once(items: list) -> list:
    """The items of a setting; a ValueError where one is there twice, which would count double."""
    if again := [one for number, one in enumerate(items) if one in items[:number]]:
        raise ValueError(f"{again[0]!r:.80} stands there twice; give each once")
    return items


TYPES = {
    "precision": (precisions := Literal["auto", "float32", "bfloat16", "float16"]),
    "train_precision": precisions,
    "long_chunks": Literal["windows", "truncate"],
    "backend": Literal["llama.cpp", "transformers"],
    "method": Literal["lora", "full"],
    "rows": Literal["all"] | list[str],
    "without": Literal["all"] | list[str],
    "sets": dict[str, dict[str, Any]],
    "sides": Annotated[list[Literal["question", "both"]], MinLen(1), AfterValidator(each_once)],
}


class UndeclaredSetting(Exception):
    """A method read a section of the profile that it did not declare, so that its key would not depend on it."""


class Settings(dict):
    """A dictionary whose items are also attributes: ``profile.chunks.size``.

    Where a reader declared its sections (:meth:`only`), any other is an error, also in ``get`` and ``in``.
    """

    _reader = ""

    def __missing__(self, name: str):
        if self._reader:
            raise UndeclaredSetting(
                f"{self._reader} reads the section {name!r} of the profile, which its row in the method table does "
                f"not declare: add {name!r} behind the function in its row"
            )
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or bool(self._reader and self.__missing__(name))

    def get(self, name: str, default: object = None) -> object:
        return super().get(name, default) if name in self else default

    def __getattr__(self, name: str):
        if name.startswith("_"):  # what copies and pickles ask for; no setting
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the profile has no setting {name!r}; it has {', '.join(self)}") from None

    def only(self, sections: Iterable[str], reader: str) -> "Settings":
        """A copy with some sections, for a reader that declared these: any other is an error that names the reader."""
        found = Settings({name: getattr(self, name) for name in sections})
        object.__setattr__(found, "_reader", reader)
        return found

    def updated(self, sections: dict[str, object]) -> "Settings":
        """A copy with whole sections replaced."""
        return _settings(self | sections)

    def for_sets(self, *names: str) -> "Settings":
        """A copy with what its section ``sets`` changes for some datasets, the later first; without that section."""
        copy = self.replaced(reduce(dict.__or__, [self.sets.get(name, {}) for name in names], {}))
        del copy["sets"]
        return copy

    def replaced(self, changes: dict[str, object]) -> "Settings":
        """A copy with dotted settings changed, ``{"bm25.k1": 0.9}``; a StudyError with all that cannot be."""
        if wrong := self.problems(given := nested(changes)):
            raise StudyError("; ".join(wrong.values()))
        return _merged(self, given)

    def problems(self, given: dict[str, object]) -> dict[str, str]:
        """What is wrong with settings that are to replace some of these, by dotted name."""
        wrong = {}
        try:
            _model(*self).model_validate(given)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                name, known = _place(self, one["loc"])  # without what is inside its value
                needed = one["msg"].removeprefix("Value error, ").replace("Input", "it", 1)
                needed = needed.partition(" or instance")[0]
                wrong[name] = f"{name} is {one['input']!r:.80}; {needed}"
                if one["type"] in ("extra_forbidden", "invalid_key"):
                    wrong[name] = f"the profile has no setting {name!r:.80}; it has {', '.join(known)}"
            return wrong
        merged = _merged(self, given)
        for name in ("chunks", "parent_child"):
            size, overlap = merged[name].size, merged[name].overlap
            if overlap >= size:
                wrong[f"{name}.overlap"] = f"{name}.overlap is {overlap}; give less than {name}.size, which is {size}"
        overlap, room = merged.embedder.window_overlap, merged.embedder.window - SPECIAL_TOKENS
        if overlap >= room:
            least = f"embedder.window less {SPECIAL_TOKENS} special tokens, which is {room}"
            wrong["embedder.window_overlap"] = f"embedder.window_overlap is {overlap}; give less than {least}"
        ks, depth, trial = merged.metrics.ks, merged.run.depth, merged.page_scorer.compare_tokens
        if ks != sorted(ks):
            wrong["metrics.ks"] = f"metrics.ks is {ks}; give the least first, {sorted(ks)}"
        if max(ks) > depth:
            wrong["metrics.ks"] = f"metrics.ks has {max(ks)}; give at most run.depth, which is {depth}"
        if 0 < trial <= SPECIAL_TOKENS:
            wrong["page_scorer.compare_tokens"] = f"page_scorer.compare_tokens is {trial}; give 0, or 3 or more"
        return wrong


@cache
def _model(*sections: str) -> type:
    """What the settings of a profile with these sections may be; those that the default profile lacks are texts."""
    default, _ = _read(PROFILES / "default.yaml")
    return _type({name: default.get(name, name) for name in sections})


def _type(like: object, dotted: str = "") -> object:
    """What a setting may be: by its dotted name or the last part of it, and by the type of its value by default."""
    name = dotted.rpartition(".")[2]
    if name in TYPES:
        return TYPES[name]
    if isinstance(like, dict):
        fields = {one: (_type(value, f"{dotted}.{one}".lstrip(".")), None) for one, value in like.items()}
        return create_model(name or "profile", __config__=ConfigDict(extra="forbid", strict=True), **fields)
    if isinstance(like, list):
        return Annotated[list[_type(like[0], dotted)], MinLen(1), AfterValidator(each_once)]
    if isinstance(like, bool):
        return bool
    least, most = (ends.get(dotted, ends.get(name)) for ends in (LEAST, LARGEST))
    if isinstance(like, int):
        usual = 0 if name in MAY_BE_0 or like == 0 else 1
        return Annotated[int, Interval(ge=least or usual, le=most or MOST)]
    if isinstance(like, float):
        return Annotated[float, Interval(ge=least or 0, le=most or (1 if name in SHARES else MOST))]
    return Annotated[str, StringConstraints(pattern=r"\S")]


def _place(settings: dict, place: tuple) -> tuple[str, list[str]]:
    """The dotted name of a setting that pydantic names, without what is inside its value, and the names beside it."""
    names, known = [], []
    for name in place:
        if not isinstance(settings, dict):
            break
        known = [".".join([*names, one]) for one in settings]
        names.append(str(name))
        settings = settings.get(name)
    return ".".join(names), known


def _settings(value: object) -> object:
    if isinstance(value, dict):
        return Settings({name: _settings(item) for name, item in value.items()})
    return value


def _merged(settings: object, given: object) -> object:
    """A copy of settings with those of others in their place."""
    if not isinstance(given, dict) or not isinstance(settings, dict):
        return _settings(given)
    return _settings(settings | {name: _merged(settings.get(name), value) for name, value in given.items()})


def nested(changes: dict[str, object]) -> dict[str, object]:
    """Dotted settings as sections."""
    found = {}
    for dotted, value in changes.items():
        if above := [one for one in changes if dotted.startswith(f"{one}.")]:
            raise StudyError(f"{above[0]} and {dotted} are both given; remove one")
        *sections, name = dotted.split(".")
        reduce(lambda section, one: section.setdefault(one, {}), sections, found)[name] = value
    return found


def path_of(name: str) -> Path:
    """The file of a profile, by its name or by the path of a YAML file."""
    return Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"


def load_profile(name: str, above: tuple[Path, ...] = ()) -> Settings:
    """Read a profile by name (``default``, ``base``, ``paper``) or by the path of a YAML file.

    A profile lists what differs from the one that it ``extends``, by default ``default``; a setting that this does not
    have is an error. ``above`` are the profiles that extend it.

    A StudyError has every setting that is unknown or cannot have its value, with its line.
    """
    path = path_of(name)
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in PROFILES.glob("*.yaml")))
        raise StudyError(f"no profile {name!r}: say one of {known}, or the path of a .yaml file")
    if path.resolve() in above:
        raise StudyError(f"{path}: the profile extends itself; say extends: default")
    if path.resolve().parent != PROFILES and (why := _why_not(path.stem)):
        raise StudyError(f"{path}: {why}, and results are kept in a folder of the profile's name; rename the file")
    given, lines = _read(path)
    if path.resolve() == PROFILES / "default.yaml":
        return _settings(given | {"name": path.stem})
    base = str(given.pop("extends", "default"))
    below = load_profile(base, (*above, path.resolve()))
    if not (wrong := below.problems(given)):
        for part, changes in given.get("sets", {}).items():
            try:
                found = below.problems(nested(changes))
            except StudyError as error:
                found = {"": str(error)}
            wrong |= {f"sets.{part}.{dotted}": text for dotted, text in found.items()}
    if wrong:
        at = {name: lines.get(name, lines.get(name.rpartition(".")[0])) for name in wrong}
        told = [f"line {at[name]}: {text}" if at[name] else text for name, text in wrong.items()]
        raise StudyError("\n  ".join([f"{path}: {len(told)} problem" + ("s" if len(told) > 1 else ""), *told]))
    return _merged(below, given | {"name": path.stem, "extends": base})


def _why_not(name: str) -> str:
    """Why a profile of one's own cannot have a name; empty where it can."""
    if name.casefold() in {path.stem for path in PROFILES.glob("*.yaml")}:
        return f"{name!r} is a profile of the repository"
    return "" if name.isprintable() and not name.startswith((".", " ")) else f"{name!r} is no name of a folder"


def _read(path: Path) -> tuple[dict, dict[str, int]]:
    """The settings of a YAML file, and the line of each by its dotted name; a StudyError where it contains none."""
    lines: dict[str, int] = {}
    try:
        text = path.read_text(encoding="utf-8")
        given = yaml.safe_load(text)
        if not isinstance(given, dict):
            raise ValueError("it contains none")
        for dotted, line in _keys(yaml.compose(text, Loader=yaml.SafeLoader)):
            if dotted in lines:
                raise ValueError(f"line {line}: {dotted} stands there twice, first in line {lines[dotted]}; remove one")
            lines[dotted] = line
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(
            f"{path}: not YAML of settings, such as 'bm25: {{k1: 0.9}}' ({error}); mend the file"
        ) from None
    return given, lines


def _keys(node: yaml.MappingNode, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every dotted name of a YAML file, with its line."""
    for key, value in node.value:
        yield (dotted := f"{prefix}{key.value}"), key.start_mark.line + 1
        if isinstance(value, yaml.MappingNode):
            yield from _keys(value, f"{dotted}.")
