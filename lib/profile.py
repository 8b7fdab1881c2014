"""Profiles: which models and sizes a study uses, read from YAML and validated by the models of :mod:`lib.settings`."""

from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

import yaml
from pydantic import ValidationError

from lib.schema import StudyError, invalid_values
from lib.settings import Profile

PROFILES = Path(__file__).resolve().parent.parent / "notebooks" / "profiles"


class UndeclaredSetting(Exception):
    """A method read a section of the profile that it did not declare, so that its key would not depend on it."""


class Settings(dict):
    """A dictionary whose items are also attributes: ``profile.chunks.size``.

    Where a reader declared its sections (:meth:`only`), any other is an error, also in ``get`` and ``in``. Values
    are as written, since keys of the store contain them: a whole number stays one where a float is allowed.
    """

    _reader = ""

    def __missing__(self, name: str):
        if self._reader:
            raise UndeclaredSetting(
                f"{self._reader} reads the section {name!r} of the profile, which its row in the method table does "
                f"not declare; add it there: settings=({name!r},)"
            )
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or bool(self._reader and self.__missing__(name))

    def get(self, name: str, default: object = None) -> object:
        return super().get(name, default) if name in self else default

    def __getattr__(self, name: str):
        if name.startswith("_"):  # asked for by copy and pickle; not a setting
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the profile has no setting {name!r}; it has {', '.join(self)}") from None

    def only(self, sections: Iterable[str], reader: str) -> "Settings":
        """A copy with some sections, for a reader that declared these: any other is an error that names the reader."""
        declared = Settings({name: getattr(self, name) for name in sections})
        declared._reader = reader
        return declared

    def updated(self, sections: dict[str, object]) -> "Settings":
        """A copy with whole sections replaced."""
        return _settings(self | sections)

    def for_sets(self, *names: str) -> "Settings":
        """A copy with the changes of its section ``sets`` for these datasets, the later first; without that section."""
        changes = reduce(dict.__or__, [self.sets.get(name, {}) for name in names], {})
        profile = self.replaced(changes)
        del profile["sets"]
        return profile

    def replaced(self, changes: dict[str, object]) -> "Settings":
        """A copy with dotted settings changed, ``{"bm25.k1": 0.9}``; a StudyError lists all that are invalid."""
        profile = _merged(self, nested(changes))
        if invalid := problems(profile):
            raise StudyError("; ".join(invalid.values()))
        return profile


def problems(profile: dict) -> dict[str, str]:
    """What is wrong with a whole profile: the dotted name of each invalid setting, and a sentence."""
    try:
        Profile.model_validate(profile)
    except ValidationError as error:
        found = {}
        for place, kind, message in invalid_values(error):
            *sections, _ = names = [part for part in place if isinstance(part, str) and part.isidentifier()]
            dotted = ".".join(names)
            found[dotted] = f"{dotted} {message}"
            if kind == "extra_forbidden":
                model = reduce(lambda model, name: model.model_fields[name].annotation, sections, Profile)
                choices = ", ".join(".".join([*sections, name]) for name in model.model_fields)
                found[dotted] = f"unknown setting {dotted!r:.80}; choose from {choices}"
        return found
    return {}


def _settings(value: object) -> object:
    if isinstance(value, dict):
        return Settings({name: _settings(item) for name, item in value.items()})
    return value


def _merged(settings: object, changes: object) -> object:
    """A copy of settings with changes in their place, section by section."""
    if not isinstance(changes, dict) or not isinstance(settings, dict):
        return _settings(changes)
    return _settings(settings | {name: _merged(settings.get(name), value) for name, value in changes.items()})


def nested(changes: dict[str, object]) -> dict[str, object]:
    """Dotted settings as sections."""
    sections = {}
    for dotted, value in changes.items():
        if above := [other for other in changes if dotted.startswith(f"{other}.")]:
            raise StudyError(f"{above[0]} and {dotted} are both given; remove one")
        *names, last = dotted.split(".")
        reduce(lambda section, name: section.setdefault(name, {}), names, sections)[last] = value
    return sections


def path_of(name: str) -> Path:
    """The file of a profile, by its name or by the path of a YAML file."""
    return Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"


def load_profile(name: str, extended_by: tuple[Path, ...] = ()) -> Settings:
    """Read a profile by name (``default``, ``base``, ``paper``) or by the path of a YAML file.

    A profile lists what differs from the one that it ``extends``, by default ``default``. ``extended_by`` are the
    profiles above it.

    A StudyError lists every setting that is unknown or invalid, with its line.
    """
    path = path_of(name)
    if not path.is_file():
        names = ", ".join(sorted(p.stem for p in PROFILES.glob("*.yaml")))
        raise StudyError(f"unknown profile {name!r}; choose from {names}, or give the path of a .yaml file")
    if path.resolve() in extended_by:
        raise StudyError(f"{path}: the profile extends itself; write extends: default")
    if path.resolve().parent != PROFILES:
        _check_name(path)
    changes, lines = _read(path)
    if path.resolve() == PROFILES / "default.yaml":
        return _settings(changes | {"name": path.stem})
    extends = str(changes.get("extends", "default"))
    base = load_profile(extends, (*extended_by, path.resolve()))
    profile = _merged(base, changes | {"name": path.stem, "extends": extends})
    if not (invalid := problems(profile)):
        for dataset, changed in changes.get("sets", {}).items():
            try:
                wrong = problems(_merged(profile, nested(changed)))
            except StudyError as error:
                wrong = {"": str(error)}
            invalid |= {f"sets.{dataset}.{dotted}": text for dotted, text in wrong.items()}
    if invalid:
        at = {dotted: lines.get(dotted) or lines.get(dotted.rpartition(".")[0]) for dotted in invalid}
        listed = [f"line {at[dotted]}: {text}" if at[dotted] else text for dotted, text in invalid.items()]
        raise StudyError("\n  ".join([f"{path}: {len(listed)} problem" + "s" * (len(listed) > 1), *listed]))
    return profile


def _check_name(path: Path) -> None:
    """A StudyError where a profile of one's own cannot have a folder of results of its name."""
    name, why = path.stem, ""
    if name.casefold() in {profile.stem for profile in PROFILES.glob("*.yaml")}:
        why = f"{name!r} is a profile of the repository"
    elif not name.isprintable() or name.startswith((".", " ")):
        why = f"{name!r} is not a valid folder name"
    if why:
        raise StudyError(f"{path}: {why}, and results are stored in a folder of the profile's name; rename the file")


def _read(path: Path) -> tuple[dict, dict[str, int]]:
    """The settings of a YAML file, and the line of each by its dotted name; a StudyError where it contains none."""
    lines: dict[str, int] = {}
    try:
        text = path.read_text(encoding="utf-8")
        settings = yaml.safe_load(text)
        if not isinstance(settings, dict):
            raise ValueError("no settings")
        for dotted, line in _lines(yaml.compose(text, Loader=yaml.SafeLoader)):
            if dotted in lines:
                raise ValueError(f"line {line}: {dotted} is repeated, first in line {lines[dotted]}; remove one")
            lines[dotted] = line
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"{path}: not a YAML file of settings such as 'bm25: {{k1: 0.9}}' ({error})") from None
    return settings, lines


def _lines(node: yaml.MappingNode, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every dotted name of a YAML file, with its line."""
    for key, value in node.value:
        yield (dotted := f"{prefix}{key.value}"), key.start_mark.line + 1
        if isinstance(value, yaml.MappingNode):
            yield from _lines(value, f"{dotted}.")
