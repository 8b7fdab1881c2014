"""The files that others read: a study's frames and runs under the names of the contract, and the log of its stages."""

import io
import json
import shutil
import time
import uuid
from pathlib import Path

from lib.store import Entry, write_atomically


class ViewFiles:
    """The part of :class:`lib.study.Study` that writes the directory ``view``."""

    def show_inputs(self) -> None:
        """Put the pages, chunks and questions into the view, under their contract names."""
        if self.has_filings:
            packed = io.BytesIO()
            self.questions.to_parquet(packed, index=False)
            self.write("questions.parquet", packed.getvalue())
            for name in ("pages", "chunks"):
                getattr(self, name)

    def show(self, path: Path, name: str | None = None) -> Path:
        """Put a stored file under its contract name in the view (a hard link where the disk allows it)."""
        target = self.view / (name or path.name)
        if not (target.exists() and target.stat().st_ino == path.stat().st_ino):
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
            try:
                aside.hardlink_to(path)
            except OSError:
                shutil.copyfile(path, aside)
            aside.replace(target)
        return target

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the view, whole or not at all."""
        target = self.view / name
        write_atomically(target, content.encode() if isinstance(content, str) else content)
        return target

    def _log_stage(self, entry: Entry) -> None:
        record = {
            "chapter": self.chapter,
            "stage": entry.stage,
            "key": entry.key,
            "origin": entry.origin,
            "wall_s": entry.wall_s,
            "peak_mib": entry.peak_mib,
            "at": time.strftime("%Y-%m-%dT%H:%M:%S"),
        }
        logs = [self.view / "stages.jsonl"] + ([self.times] if entry.origin == "computed" else [])
        for log in logs:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a") as file:
                file.write(json.dumps(record) + "\n")
