"""Profiles: which models and sizes a study uses, read from YAML and checked."""

from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Annotated, Literal

import yaml
from annotated_types import Interval, MinLen
from pydantic import StringConstraints, TypeAdapter, ValidationError

from lib.words import StudyError

PROFILES = Path(__file__).resolve().parent.parent / "notebooks" / "profiles"
MOST, LARGEST = 2**32 - 1, 1e300  # whole number, as the largest seed is; other number
#: What settings of a name may be, beside what the type of their value in the extended profile says.
MAY_BE_0 = "overlap window_overlap seed seeds fold_seeds".split()
SHARES = "b warmup feature_share page_share shares right_from".split()
CHOICES = {
    "precision": (precisions := ("auto", "float32", "bfloat16", "float16")),
    "train_precision": precisions,
    "long_chunks": ("windows", "truncate"),
    "backend": ("llama.cpp", "transformers"),
    "method": ("lora", "full"),
    "sides": ("question", "both"),
}
NAMES = ("rows", "without")  # ``all``, or a list
BELOW = ("chunks.overlap", "chunks.size"), ("parent_child.overlap", "parent_child.size")


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
                f"not declare: add it to settings=({', '.join(self)})"
            )
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or bool(self._reader and self.__missing__(name))

    def get(self, name: str, default: object = None) -> object:
        return super().get(name, default) if name in self else default

    def __getattr__(self, name: str):
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
        """A copy with dotted settings changed, ``{"bm25.k1": 0.9}``; a StudyError with all names and values that cannot
        be."""
        copy, wrong = self.changed(changes)
        if wrong:
            raise StudyError("; ".join(wrong.values()))
        return copy

    def changed(self, changes: dict[str, object]) -> "tuple[Settings, dict[str, str]]":
        """A copy with those of the dotted settings changed that can be, and what is wrong with the others."""
        known, settings, wrong = dict(_items(self)), _settings(self), {}
        for dotted, value in changes.items():
            is_section = known.get(dotted) == {} or any(one.startswith(f"{dotted}.") for one in known)
            if is_section and value == {}:
                continue
            if is_section or dotted not in known:
                beside = [one for one in known if one.split(".")[0] == dotted.split(".")[0]] or self
                wrong[dotted] = f"the profile has no setting {dotted!r:.80}; it has {', '.join(beside)}"
                continue
            *sections, name = dotted.split(".")
            needed, kind = _kind(name, known[dotted])
            if _is(value, kind):
                known[dotted] = reduce(dict.__getitem__, sections, settings)[name] = value
            else:
                wrong[dotted] = f"{dotted} is {value!r:.80}; give {needed}"
        for small, large in BELOW:
            if {small, large} <= {*known} and known[small] >= known[large]:
                wrong[small] = f"{small} is {known[small]}; give less than {large}, which is {known[large]}"
        if {"metrics.ks", "run.depth"} <= {*known} and (most := max(known["metrics.ks"])) > known["run.depth"]:
            wrong["metrics.ks"] = f"metrics.ks has {most}; give at most run.depth, which is {known['run.depth']}"
        return settings, wrong


def _kind(name: str, like: object) -> tuple[str, object]:
    """What a setting may be, in words and as a type: by its name without sections, and by the type of its value in the
    extended profile (``like``)."""
    if name in NAMES:
        return "all or a list of names", Literal["all"] | list[str]
    if isinstance(like, list):
        needed, one = _kind(name, like[0])
        return f"a list, each of it {needed}", Annotated[list[one], MinLen(1)]
    if name in CHOICES:
        return f"one of {', '.join(CHOICES[name])}", Literal[CHOICES[name]]
    if isinstance(like, bool):
        return "true or false", bool
    if isinstance(like, int):
        least = 0 if name in MAY_BE_0 or like == 0 else 1
        return f"a whole number from {least}", Annotated[int, Interval(ge=least, le=MOST)]
    if isinstance(like, float):
        needed, most = ("a number from 0 to 1", 1) if name in SHARES else ("a number from 0, such as 1.0e-3", LARGEST)
        return needed, Annotated[float, Interval(ge=0, le=most)]
    return "a text", Annotated[str, StringConstraints(pattern=r"\S")]


def _is(value: object, kind: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _settings(value: object) -> object:
    if isinstance(value, dict):
        return Settings({name: _settings(item) for name, item in value.items()})
    return value


def _items(settings: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every setting by its dotted name, with its value; an empty section is one too, what ``sets`` contains is none."""
    for name, value in settings.items():
        if isinstance(value, dict) and value and name != "sets":
            yield from _items(value, f"{prefix}{name}.")
        elif name != "sets":
            yield prefix + name, value


def load_profile(name: str, above: tuple[Path, ...] = ()) -> Settings:
    """Read a profile by name (``default``, ``base``, ``paper``) or by the path of a YAML file.

    A profile may say ``extends: default`` and then lists only what differs; a setting that the extended profile
    does not have is an error. Its ``sets`` are added to the extended profile's.

    Args:
        above: the profiles that extend it.

    Raises:
        StudyError: no such profile, not YAML, or every setting that is unknown or cannot have its value, with its line.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in PROFILES.glob("*.yaml")))
        raise StudyError(f"no profile {name!r}: say one of {known}, or the path of a .yaml file")
    if path.resolve() in above:
        raise StudyError(f"{path}: the profile extends itself; say extends: default")
    read, lines, problems = _read(path)
    base, sets = read.pop("extends", None), read.pop("sets", {})
    if base is not None and not isinstance(base, str):
        raise StudyError(f"{path}: extends is {base!r}; give one profile's name, such as default")
    given = dict(_items(read))
    is_first = path.resolve() == PROFILES / "default.yaml"
    below = _settings(read) if is_first else load_profile(base or "default", (*above, path.resolve()))
    lacking = [one for one, _ in _items(below) if one not in (*given, "name")]
    if lacking and not base:
        problems[""] = f"the profile lacks {lacking[0]} and {len(lacking) - 1} others; say extends: default"
    settings, wrong = below.changed(given)
    for part, changes in sets.items() if isinstance(sets, dict) else [("", sets)]:
        found = {"": f"{changes!r:.80} are no settings; write a name and a value each"}
        found = settings.changed(changes)[1] if isinstance(changes, dict) else found
        wrong |= {f"sets.{part}.{dotted}": text for dotted, text in found.items()}
    if problems := wrong | problems:
        told = [f"line {lines[dotted]}: {text}" if dotted in lines else text for dotted, text in problems.items()]
        raise StudyError("\n  ".join([f"{path}: {len(told)} problem" + ("s" if len(told) > 1 else ""), *told]))
    settings["name"], settings["sets"] = path.stem, settings.get("sets", {}) | sets
    return Settings(settings | {"extends": base}) if base else settings


def _read(path: Path) -> tuple[dict, dict[str, int], dict[str, str]]:
    """The settings of a YAML file, the line of each by its dotted name, and what is wrong with their names.

    A StudyError where it is no YAML or contains no settings.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise ValueError("it has an alias such as *name, whose value must be written out")
        node, read = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}); mend the file's rights") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{path}: not YAML ({error}); mend the file") from None
    if not isinstance(read, dict):
        raise StudyError(f"{path}: no settings; write lines such as 'extends: default' and 'bm25: {{k1: 0.9, b: 0.4}}'")
    lines, problems = {}, {}
    for dotted, key in _keys(node):
        line = key.start_mark.line + 1
        if key.tag != "tag:yaml.org,2002:str":
            raise StudyError(f"{path}: line {line}: {dotted} is no name of a setting; write a text")
        if dotted in lines:
            problems[dotted] = f"{dotted} stands there twice, first in line {lines[dotted]}; remove one"
        lines[dotted] = line
    return read, lines, problems


def _keys(node: yaml.MappingNode, prefix: str = "") -> Iterator[tuple[str, yaml.Node]]:
    """Every dotted name of a YAML file, with the node that it ends in."""
    for key, value in node.value:
        yield (dotted := f"{prefix}{key.value}"), key
        if isinstance(value, yaml.MappingNode):
            yield from _keys(value, f"{dotted}.")
