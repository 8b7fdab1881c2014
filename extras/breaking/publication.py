"""Damage to what is published and stored, and hostile text in the book."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import pandas as pd

from extras.breaking import hostile
from extras.breaking.browser import chromium, problems_of
from extras.breaking.cases import Case
from extras.publish.verify import check_files, follows, published_of, verify_chapter
from lib.book.allowed import found_in
from lib.files import digest_of_file
from lib.methods import chosen
from lib.options import Names
from lib.published import (
    GENERATIONS_FILE,
    MANIFEST,
    METRICS_FILE,
    RESULTS,
    RUNS_FILE,
    Published,
    Runs,
    read_table,
    table_bytes,
)
from lib.runs import trec_lines
from lib.show.display import as_csv, escape, is_computed, markdown_table, verbatim
from lib.store import Store
from lib.words import StudyError

FRAME = pd.DataFrame({"method": ["bm25", "dense"], "value": [0.25, 0.5]})
DAMAGES: dict[str, Callable[[Path], object]] = {
    "one bit flipped": lambda path: path.write_bytes(_flipped(path.read_bytes())),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a dangling link": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "a line more": lambda path: path.write_bytes(path.read_bytes() + b"\n0,0\n"),
}


def cases(folder: Path) -> Iterator[Case]:
    """The cases of this part, made and tried below ``folder``."""
    for make in (
        of_published_files,
        of_manifests,
        of_numbers,
        of_reading,
        of_store,
        of_commands,
        of_texts,
    ):
        place = folder / make.__name__
        place.mkdir()
        yield from make(place)


def _flipped(content: bytes) -> bytes:
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def _copy(folder: Path) -> Path:
    """The demo's published results, to be damaged."""
    return Path(shutil.copytree(RESULTS / "demo" / "default", folder / "demo" / "default"))


def _kinds(root: Path) -> list[str]:
    """A file of every kind that is published."""
    names, found = sorted(json.loads((root / MANIFEST).read_text())["files"]), {}
    for name in names:
        parts = name.split("/")
        found.setdefault(("/".join(parts[:2]), Path(name).suffix) if len(parts) > 1 else name, name)
    return list(found.values())


def _with(path: Path, spoil: Callable[[Path], object], use: Callable[[], object]) -> object:
    """What ``use`` gives while a file is spoilt; the file is as before afterwards."""
    content = path.read_bytes()
    spoil(path)
    try:
        return use()
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif path.is_symlink():
            path.unlink()
        path.write_bytes(content)


def _checks(root: Path) -> bool:
    check_files(Published(root))
    return True


def of_published_files(folder: Path) -> Iterator[Case]:
    """Every kind of published file, damaged in every way, replaced by another, or one more."""
    root = _copy(folder)
    kinds = _kinds(root)
    for name, (how, spoil) in product(kinds, DAMAGES.items()):
        attempt = partial(_with, root / name, spoil, partial(_checks, root))
        yield Case("published files", f"{name}: {how}", attempt, name)
    for one, other in pairwise(kinds):
        swap = partial(shutil.copyfile, root / other)
        yield Case(
            "published files",
            f"{one}: {other}",
            partial(_with, root / one, swap, partial(_checks, root)),
            one,
        )
    for name in ("more.csv", ".hidden", "runs/standard.parquet", "shown/tables/more.csv"):
        yield Case("published files", f"{name}: one more", partial(_one_more, root, name), name)
    yield Case("published files", "as published", partial(_checks, root), None)


def _one_more(root: Path, name: str) -> bool:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("x")
    try:
        return _checks(root)
    finally:
        (root / name).unlink()


def of_manifests(folder: Path) -> Iterator[Case]:
    """Manifests that are no JSON, lack something, or state it in another type."""
    root = _copy(folder)
    path, whole = root / MANIFEST, json.loads((root / MANIFEST).read_text())
    texts = {
        "empty": b"",
        "cut": path.read_bytes()[:999],
        "UTF-16": "{}".encode("utf-16"),
        "deep": b"[" * 100_000,
    }
    texts |= {"a list": b"[]", "null": b"null", "no object": b"1", "an empty object": b"{}", "NaN": b"NaN"}
    run = next(iter(whole["runs"]))
    spoilt = {f"without {name}": {k: v for k, v in whole.items() if k != name} for name in NEEDED}
    spoilt |= {f"{name} is {value!r}": whole | {name: value} for name, value in product(NEEDED, (None, 7))}
    spoilt["a run is a text"] = whole | {"runs": {run: "x"}}
    spoilt["a run has no hash"] = whole | {"runs": {run: {}}}
    spoilt["a stage has no key"] = whole | {"stages": [{"stage": "a"}]}
    spoilt["a hash is a number"] = whole | {"files": whole["files"] | {"summary.csv": 1}}
    spoilt["a run is not listed"] = whole | {"runs": {k: v for k, v in whole["runs"].items() if k != run}}
    spoilt["a run has another hash"] = whole | {"runs": whole["runs"] | {run: {"sha256": "0" * 64}}}
    spoilt["a file is not listed"] = whole | {
        "files": {k: v for k, v in whole["files"].items() if "summary" not in k}
    }
    texts |= {name: json.dumps(one).encode() for name, one in spoilt.items()}
    for name, content in texts.items():
        spoil = partial(_replace, content=content)
        told = run if "run" in name and ("not listed" in name or "another" in name) else ""
        yield Case("manifest", name, partial(_with, path, spoil, partial(_checks, root)), told)


NEEDED = (
    "dataset",
    "fingerprint",
    "filings_digest",
    "commit",
    "date",
    "settings",
    "inputs",
    "runs",
    "files",
    "stages",
)


def _replace(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _republished(root: Path, name: str, content: bytes) -> None:
    """Another file, and its hash in the manifest, as one would who wants it to be taken for the published one."""
    (root / name).write_bytes(content)
    manifest = json.loads((root / MANIFEST).read_text())
    manifest["files"][name] = digest_of_file(root / name)
    if name == RUNS_FILE:
        for (condition, method), run in Runs(read_table(root / name)).items():
            sha256 = hashlib.sha256(trec_lines(run, method)).hexdigest()
            manifest["runs"][f"{condition}/{method}"]["sha256"] = sha256
    (root / MANIFEST).write_text(json.dumps(manifest))


def of_numbers(folder: Path) -> Iterator[Case]:
    """Numbers that were changed together with their hashes: what follows from runs and gold pages finds them."""
    whole = _of_bm25(_copy(folder))
    yield Case("published numbers", "as published", partial(_recomputed, whole, lambda root: None), None)
    for number, (name, spoil) in enumerate(NUMBERS.items()):
        root = Path(shutil.copytree(whole, folder / str(number)))
        yield Case("published numbers", name, partial(_recomputed, root, spoil), "differs")


def _of_bm25(root: Path) -> Path:
    """A publication that has runs of BM25 alone, which are soon computed again."""
    manifest = json.loads((root / MANIFEST).read_text())
    for place in [place for place in manifest["runs"] if not place.endswith("/bm25")]:
        del manifest["runs"][place]
    (root / MANIFEST).write_text(json.dumps(manifest))
    for name in (RUNS_FILE, METRICS_FILE):
        table = read_table(root / name)
        _republished(root, name, table_bytes(table[table["method"] == "bm25"]))
    table = pd.read_csv(root / "summary.csv", dtype={"k": "Int64"})
    _republished(root, "summary.csv", table[table["method"] == "bm25"].to_csv(index=False).encode())
    return root


def _recomputed(root: Path, spoil: Callable[[Path], None]) -> bool:
    said: list[str] = []
    spoil(root)
    check_files(Published(root))
    if not follows(Published(root), lambda line: said.append(str(line))):
        raise StudyError("\n".join(line for line in said if line.startswith("differs:")))
    return True


def _in_metrics(root: Path, metric: str) -> None:
    table = Published(root).metrics
    row = table[(table["metric"] == metric) & (table["condition"] == "standard")].index[0]
    table.loc[row, "value"] = 0.123
    _republished(root, METRICS_FILE, table_bytes(table))


def _in_summary(root: Path) -> None:
    table = pd.read_csv(root / "summary.csv", dtype={"k": "Int64"})
    table.loc[0, "mean"] += 0.01
    _republished(root, "summary.csv", table.to_csv(index=False).encode())


def _in_run(root: Path) -> None:
    table = read_table(root / RUNS_FILE)
    first = table.index[table["condition"] == "standard"][:3]
    _republished(root, RUNS_FILE, table_bytes(table.drop(first)))


def _in_gold(root: Path) -> None:
    table = pd.read_csv(root / "questions.csv", dtype=str)
    table["gold_pages"] = "0"
    _republished(root, "questions.csv", table.to_csv(index=False).encode())


NUMBERS: dict[str, Callable[[Path], None]] = {
    "page recall of a question": partial(_in_metrics, metric="page_recall"),
    "a ranked measure of a question": partial(_in_metrics, metric="ndcg"),
    "a BLEU of a question": partial(_in_metrics, metric="ctx_bleu"),
    "a mean of the summary": _in_summary,
    "a run without its first ranks": _in_run,
    "other gold pages": _in_gold,
}


def of_reading(folder: Path) -> Iterator[Case]:
    """A book reads damaged published files; stored results that are damaged are not used."""
    root = _copy(folder)
    readers = {
        METRICS_FILE: lambda: Published(root).metrics,
        RUNS_FILE: lambda: Published(root).runs,
        "filings.csv": lambda: Published(root).filings,
        "questions.csv": lambda: Published(root).dataset(),
        GENERATIONS_FILE: lambda: Published(root).generations(pd.DataFrame({"question_id": []})),
    }
    for (name, read), (how, spoil) in product(readers.items(), DAMAGES.items()):
        attempt = partial(_with, root / name, spoil, lambda read=read: read() is not None)
        yield Case("published, read", f"{name}: {how}", attempt, name)
    wanted: dict[str, tuple] = {}
    for record in Published(root).manifest["stages"]:
        paths = [file["path"] for file in record.get("files", {}).values() if "path" in file]
        if paths:
            wanted.setdefault(record["stage"].split("/")[0], (record["stage"], record["key"], paths[0]))
    for (stage, key, path), (how, spoil) in product(wanted.values(), DAMAGES.items()):
        use = partial(_is_not_found, root, stage, key)
        yield Case("published, stored", f"{path}: {how}", partial(_with, root / path, spoil, use), None)


def _is_not_found(root: Path, stage: str, key: str) -> bool:
    return Published(root).find(stage, key) is None


class Stored:
    """A store with a result of every kind, and what reads them."""

    def __init__(self, root: Path):
        self.root = root
        for kind in KINDS:
            self.read(kind)

    def read(self, kind: str) -> bool:
        """Whether a result is the right one, read or made anew."""
        store, params = Store(self.root, say=lambda line: None), {"kind": kind}
        if kind in ("public frame", "private frame"):
            found = store.frame(kind, params, lambda: FRAME, public=kind == "public frame")
            return found.equals(FRAME)
        if kind == "value":
            return store.value(kind, params, lambda: {"a": [1.5]}) == {"a": [1.5]}
        entry = store.get(kind, params, lambda target: (target / "rows.npy").write_bytes(b"rows"))
        return (entry.path / "rows.npy").read_bytes() == b"rows"

    def folder(self, kind: str) -> Path:
        """Where a result lies."""
        return next(
            path for path in (self.root / kind).iterdir() if not path.name.startswith(("damaged", "."))
        )


KINDS = ("public frame", "private frame", "value", "file")


def of_store(folder: Path) -> Iterator[Case]:
    """Every kind of file in the store, damaged; entries that change places; what is damaged is made anew."""
    number = 0
    for kind in KINDS:
        names = [path.name for path in Stored(folder / "first").folder(kind).iterdir()]
        for name, (how, spoil) in product(names, DAMAGES.items()):
            number += 1
            attempt = partial(_restored, folder / str(number), kind, name, spoil)
            yield Case("store", f"{kind}, {name}: {how}", attempt, None)
        for how, spoil in OF_ENTRY.items():
            number += 1
            yield Case(
                "store", f"{kind}: {how}", partial(_restored, folder / str(number), kind, "", spoil), None
            )


OF_ENTRY: dict[str, Callable[[Path], object]] = {
    "the entry is a file": lambda path: (shutil.rmtree(path), path.write_text("x")),
    "the entry is empty": lambda path: (shutil.rmtree(path), path.mkdir()),
    "one file more": lambda path: (path / "more").write_text("x"),
    "the record is an empty object": lambda path: (path / "entry.json").write_text("{}"),
    "the record is a list": lambda path: (path / "entry.json").write_text("[]"),
    "the record has another key": lambda path: _changed(path, key="0" * 20),
    "the record has other parameters": lambda path: _changed(path, params={}),
    "the record has no files": lambda path: _changed(path, files={}),
    "the entry of another result": lambda path: _taken_from_another(path),
}


def _changed(path: Path, **changes: object) -> None:
    record = json.loads((path / "entry.json").read_text())
    (path / "entry.json").write_text(json.dumps(record | changes))


def _taken_from_another(path: Path) -> None:
    other = next(one for one in path.parents[1].iterdir() if one.name in KINDS and one != path.parent)
    found = next(one for one in other.iterdir() if not one.name.startswith(("damaged", ".")))
    shutil.rmtree(path)
    shutil.copytree(found, path)


def _restored(root: Path, kind: str, name: str, spoil: Callable[[Path], object]) -> bool:
    stored = Stored(root)
    spoil(stored.folder(kind) / name)
    return stored.read(kind)


def of_commands(folder: Path) -> Iterator[Case]:
    """Names that verification does not know."""
    quiet = lambda line: None  # noqa: E731
    yield Case("make verify", "an unknown method", lambda: chosen(["bm52"]), "bm52")
    yield Case(
        "make verify", "an unknown chapter", lambda: verify_chapter(Names("demo"), "nosuch", quiet), "nosuch"
    )
    for given in (
        Names("nosuch"),
        Names("demo", "nosuch"),
        Names("../demo"),
        Names("demo", "../default.yaml"),
    ):
        yield Case(
            "make verify", f"{given[:2]}", partial(published_of, given), "nothing is published", may_work=True
        )


def of_texts(folder: Path) -> Iterator[Case]:
    """Hostile text in every place where text meets MyST or a spreadsheet, and generated text that was not escaped."""
    secret = hostile.write_secret(folder)
    for number, text in enumerate(hostile.texts(secret)):
        frame = pd.DataFrame({text: [text]})
        for name, made in (
            ("cell and head", markdown_table(frame)),
            ("caption", f"::::{{table}} Of {escape(text)}.\n:name: tab-x\n\n| a |\n|---|\n| b |\n::::"),
            ("takeaway", f"**{escape(text)}**"),
            ("line", escape(text)),
            ("block", verbatim(text)),
        ):
            yield Case("text in MyST", f"text {number} as {name}", lambda m=made: found_in(m) == [], None)
        lines = as_csv(frame)
        yield Case("text in CSV", f"text {number}", lambda of=lines, t=text: _is_kept(of, t), None)
    for text in UNESCAPED:
        yield Case(
            "generated, unescaped", text[:40].replace("\n", "⏎"), partial(_is_refused, text), "may not"
        )


UNESCAPED = (
    "{download}`x </etc/passwd>`",
    "```{include} /etc/passwd\n```",
    "```{literalinclude} /etc/passwd\n```",
    "```{raw} html\n<b>\n```",
    "```{eval-rst}\n.. include:: /etc/passwd\n```",
    "```{code-cell}\n1\n```",
    "```{figure} /etc/x.png\n```",
    "```{csv-table} T\n:file: /etc/passwd\n```",
    "<script>1</script>",
    "a <img src=x onerror=1>",
    "[x](/etc/passwd)",
    "![x](/etc/x.png)",
    "$\\href{javascript:1}{x}$",
    "% gone",
)


def _is_kept(written: str, text: str) -> bool:
    """Whether a CSV file has the text, with an apostrophe where a spreadsheet would compute it."""
    import csv
    import io

    cells = [cell for row in csv.reader(io.StringIO(written, newline="")) for cell in row]
    return set(cells) == {f"'{text}" if is_computed(text) else text} and not any(map(is_computed, cells))


def _is_refused(text: str) -> bool:
    if found := found_in(text):
        raise StudyError(f"{found[0]}: generated text may not contain it")
    return True


def book_cases(folder: Path) -> Iterator[Case]:
    """Hostile text in the browser, page by page: in every kind of output, and in the whole book of a dataset that has
    it in every field."""
    secret = hostile.write_secret(folder)
    made: dict[str, Path] = {}

    def of_outputs() -> Path:
        return hostile.few_pages(folder / "few", secret)

    def of_dataset() -> Path:
        checkout = hostile.with_hostile_model(hostile.copy_of_checkout(folder / "checkout"), secret)
        data = hostile.write_dataset(folder / "mine", secret)
        profile = hostile.write_profile(folder / "small.yaml")
        return hostile.build(checkout, "mine", "--dataset", str(data), "--profile", str(profile))

    for name, make in {"outputs": of_outputs, "dataset": of_dataset}.items():

        def attempt(name=name, make=make) -> bool:
            made[name] = make()
            return True

        yield Case("hostile book", f"of {name}: it is built", attempt, None)
        yield from _opened(folder / f"chromium-{name}", made, name, secret)


def _opened(profile: Path, made: dict[str, Path], name: str, secret: Path) -> Iterator[Case]:
    if name not in made:
        return
    site = made[name]
    yield Case("hostile book", f"of {name}: no file leaks", lambda: _none(hostile.leaks(site)), None)
    with chromium(profile) as browser:
        for page in sorted(site.rglob("*.html")):
            if "_static" not in page.parts:
                opened = lambda p=page: _none(problems_of(site, browser, [p]))  # noqa: E731
                yield Case("hostile book", f"of {name}: {page.relative_to(site)}", opened, None)


def _none(found: list[str]) -> bool:
    if found:
        raise StudyError("; ".join(found[:5]))
    return True
