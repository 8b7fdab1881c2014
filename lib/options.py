"""The names of a study, as commands and checks give them."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lib.study import Study

RESULTS = ("published", "fresh")


class Names(NamedTuple):
    """The names of a study, see :func:`lib.studies.open_study`."""

    dataset: str = ""
    profile: str = "default"
    results: str = "published"
    questions: str = ""

    def open(self, chapter: str = "") -> "Study":
        """The study; ``chapter`` is the asking chapter, for the log of stages."""
        from lib.studies import open_study

        return open_study(**self._asdict(), chapter=chapter)
