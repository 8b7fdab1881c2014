"""Where a study's results come from: stored here, published with the repository, or computed now."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from lib import runs
from lib.published import Published
from lib.store import Entry, sound_record
from lib.words import Condition, NeedsFilings


class Reuse:
    """The part of :class:`lib.study.Study` that looks a result up before it is computed."""

    def run_entry(self, name: str, condition: Condition) -> Entry:
        """The stored entry of a run, computed if it is not there."""
        if not self.has_filings:
            return self._published_entry(name, condition)
        params = self.run_params(name, condition)
        stage = f"runs/{condition}/{name}"
        shared = self._stands_in and self._stands_in.run_file(name, condition, self.store.key(stage, params))

        def compute(target: Path) -> None:
            if shared:
                shutil.copyfile(shared, target / "run.trec.gz")
                return
            from lib import methods

            searched = self.over(methods.method(name).corpus)
            run = searched.rank_method(name, searched.candidates(condition), self.profile.run.depth)
            runs.write_trec(run, target / "run.trec.gz", name)

        cost = self.published.cost(stage) if shared else None
        return self.store.get(stage, params, compute, origin="published" if shared else "computed", cost=cost)

    @property
    def _stands_in(self) -> Published | None:
        """The published results that stand in for computing; none for the demo, which shows everything live."""
        return self.published if self.dataset.name != "demo" else None

    def shared(
        self,
        stage: str,
        params: Callable[[], dict],
        compute: Callable[[Path], None],
        version: int = 1,
        settings: tuple[str, ...] = (),
    ) -> Entry:
        """A stored result that is published beside the runs, as it is dear to compute, small, and without text.

        Args:
            stage: published if it is one of :data:`lib.published.SHARED` or below one.
            params: gives all that the result depends on; not asked without filings.
            compute: as for :meth:`lib.store.Store.get`.
            version: the stage's own version.
            settings: sections of the profile that the result depends on.

        Raises:
            NeedsFilings: there are no filings, and it was not published, or with other settings.
        """
        if not self.has_filings:
            self._need_settings(stage, settings)
            found = self.published.result(stage)
            if found is None:
                raise NeedsFilings(f"{stage} was not published, and to compute it needs the filings")
            given = {"published": sound_record(found)["digest"]}
        else:
            given = params()
            found = self._stands_in and self._stands_in.result(stage, self.store.key(stage, given, version))
        if not found:
            return self.store.get(stage, given, compute, version)
        record = sound_record(found)
        cost = record["wall_s"], record["peak_mib"]
        return self.store.get(stage, given, partial(_copy_files, found, record), version, "published", cost)

    def is_shared(self, stage: str) -> bool:
        """Whether a stage's result was published."""
        return bool(self._stands_in and self._stands_in.result(stage))

    def _published_entry(self, name: str, condition: Condition) -> Entry:
        self.need_unchanged(name)
        stage, path = f"runs/{condition}/{name}", self.published.run_file(name, condition)
        if path is None:
            raise NeedsFilings(f"{name} under {condition} was not published, and its run needs the filings")

        def compute(target: Path) -> None:
            shutil.copyfile(path, target / "run.trec.gz")

        params = {"published": self.published.manifest["runs"][f"{condition}/{name}"]["sha256"]}
        return self.store.get(stage, params, compute, origin="published", cost=self.published.cost(stage))

    def need_unchanged(self, name: str) -> None:
        """Make sure that a published run is one of these settings.

        Raises:
            NeedsFilings: a setting of the method was changed.
        """
        from lib import methods

        row = methods.method(name)
        self._need_settings(name, ("chunks", "run", *row.settings))
        for used in row.uses:
            self.need_unchanged(used)

    def _need_settings(self, what: str, sections: tuple[str, ...]) -> None:
        for section in sections:
            if self.profile[section] != self.published.manifest["settings"].get(section):
                raise NeedsFilings(
                    f"{what} with other settings ({section}) has to be run, which needs the filings"
                )

    def published_metrics(self, name: str, condition: Condition) -> pd.DataFrame:
        """The published metrics of a run, where there are no filings to compute them with.

        Raises:
            NeedsFilings: they were not published, or settings were changed.
        """
        self.run(name, condition)
        return self.published.metrics_of(name, condition)

    def has_published_metrics(self, name: str, condition: Condition) -> bool:
        """Whether a sibling study's run was published and is measured there: its chunk table then need not be made."""
        from lib import methods

        if methods.METHODS[name].family == methods.MAIN or not self._stands_in:
            return False
        known = self.published.manifest["settings"].get("metrics")
        entry = self.run_entry(name, condition)
        return known == self.profile.metrics and bool(
            self.published.run_file(name, condition, entry.key) and entry.origin == "published"
        )

    @property
    def times(self) -> Path:
        """The log of what was computed for this dataset and profile, which is never begun anew."""
        return self.home / "times.jsonl"

    def computed_before(self) -> list[dict]:
        """The records of the stages that were computed here, the last of each, as ``stages.jsonl`` has them."""
        lines = self.times.read_text().splitlines() if self.times.is_file() else []
        records = [json.loads(line) for line in lines if line.endswith("}")]
        return list({record["stage"]: record for record in records}.values())

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that each stage took to compute, here or where its result was published."""
        stages = self.published.manifest["stages"] if self.published else []
        known = {record["stage"]: record["wall_s"] for record in [*stages, *self.computed_before()]}
        return known | {stage: entry.wall_s for (stage, _), entry in self.store.log.items()}

    @property
    def provenance(self) -> str:
        """What a caption adds where results were not recomputed here."""
        origins = {entry.origin for (stage, _), entry in self.store.log.items() if stage.startswith("runs/")}
        is_published = not self.has_filings or "published" in origins
        return f" {self.published.sentence}" if self.published and is_published else ""


def _copy_files(source: Path, record: dict, target: Path) -> None:
    for name in record["files"]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
