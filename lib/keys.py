"""What keys of the store have of a profile: its sections, with weights by their hash and with edited data files."""

from collections.abc import Mapping, Sequence
from functools import cache

from lib.files import ROOT, digest_of_file
from lib.models.weights import weights_hash

#: Data files that go with a section of the profile, and the digests under which keys do not name them.
DATA_FILES = {
    "bm25": {"text/stop_words.txt": "e74feb668ca57f0910d4"},
    "ahead": {"ahead/kinds.yaml": "15c1c5b3455a690da138", "statements/items.yaml": "d4a3975be11b8413334f"},
    "answers": {"statements/asked.yaml": "295be73a8469c398b1e5", "metrics/answers.yaml": "a87e2f0e1cf2f6baa82c"},
}


@cache
def data_file_digests(section: str) -> dict[str, dict[str, str]]:
    """What edited data files of a section add to a key: the digests that differ from those of DATA_FILES."""
    known = DATA_FILES.get(section, {})
    digests = {name: digest_of_file(ROOT / "lib" / name)[:20] for name in known}
    files = {name: digest for name, digest in digests.items() if digest != known[name]}
    return {"files": files} if files else {}


def settings_of(profile: Mapping, sections: Sequence[str]) -> dict:
    """Sections of a profile as a part of a key: as written, but with the hash of a model's weights for their name."""
    found = {}
    for name in sections:
        value = profile[name]
        if isinstance(value, dict):  # the name and what it extends are none
            hashed = {"weights": weights_hash(value["weights"])} if "weights" in value else {}
            value = value | hashed | data_file_digests(name)
        found[name] = value
    return found
