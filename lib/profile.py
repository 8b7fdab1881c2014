"""Profiles: which models and sizes a study uses, read from YAML and checked."""

from collections.abc import Iterable
from functools import reduce
from operator import getitem
from pathlib import Path

import yaml

from lib.words import StudyError

PROFILES = Path(__file__).resolve().parent.parent / "notebooks" / "profiles"


class UndeclaredSetting(Exception):
    """A method read a section of the profile that it did not declare, so that its key would not depend on it."""


class Settings(dict):
    """A dictionary whose items are also attributes: ``profile.chunks.size``."""

    _reader = ""

    def __missing__(self, name: str):
        if self._reader:
            raise UndeclaredSetting(
                f"{self._reader} reads the section {name!r} of the profile, which its row in the method table does "
                f"not declare: add it to settings=({', '.join(self)})"
            )
        raise KeyError(name)

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
        changes = reduce(dict.__or__, [self.sets.get(name, {}) for name in names], {})
        copy = self.replaced(changes)
        del copy["sets"]
        return copy

    def replaced(self, changes: dict[str, object]) -> "Settings":
        """A copy with dotted settings changed: ``{"bm25.k1": 0.9}``.

        Raises:
            StudyError: a name that the profile does not have; the message lists the right ones.
        """
        copy = _settings(self)
        for dotted, value in changes.items():
            *sections, name = dotted.split(".")
            place = copy
            for section in sections:
                place = place.get(section, {}) if isinstance(place, dict) else {}
            if not isinstance(place, dict) or name not in place or isinstance(place[name], dict):
                raise StudyError(f"the profile has no setting {dotted!r}; it has {', '.join(_dotted(self))}")
            place[name] = value
        return copy


def _settings(value: object) -> object:
    if isinstance(value, dict):
        return Settings({name: _settings(item) for name, item in value.items()})
    return value


def _dotted(settings: dict, prefix: str = "") -> list[str]:
    names = []
    for name, value in settings.items():
        names += _dotted(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]
    return names


def load_profile(name: str) -> Settings:
    """Read a profile by name (``default``, ``base``, ``paper``) or by the path of a YAML file.

    A profile may say ``extends: default`` and then lists only what differs; a setting that the extended profile
    does not have is an error, so that a misspelt name cannot pass. Its ``sets`` are added to the extended profile's.

    Raises:
        StudyError: no such profile, not YAML, or an unknown setting.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in PROFILES.glob("*.yaml")))
        raise StudyError(f"no profile {name!r}: say one of {known}, or the path of a .yaml file")
    try:
        read = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML ({error}); mend the file") from None
    if not isinstance(read, dict):
        raise StudyError(
            f"{path}: no settings; write lines such as 'extends: default' and 'bm25: {{k1: 0.9, b: 0.4}}'"
        )
    base, sets = read.pop("extends", None), read.pop("sets", {})
    changes = {dotted: reduce(getitem, dotted.split("."), read) for dotted in _dotted(read)} if base else {}
    settings = load_profile(base).replaced(changes) if base else _settings(read)
    settings["name"], settings["sets"] = path.stem, settings.get("sets", {}) | sets
    if base:
        settings["extends"] = base
    return settings
