"""A chapter run in a kernel as Jupyter runs it, and every cell again: what fails, differs, or changes its type.

Also a command: ``python -m tests.rerun 03_baselines``, with parameters such as ``dataset=demo`` behind the name.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import yaml
from jupyter_client.manager import start_new_kernel

from lib.book.notebooks import WIDGET
from lib.files import ROOT
from lib.studies import NOTEBOOKS, OUTPUTS_VARIABLE

TYPES = (
    "{n: type(v).__name__ for n, v in [*globals().items()] if n[0] != '_' and n not in ('In', 'Out', 'exit', 'quit')}"
)


@contextmanager
def kernel(outputs: Path) -> Iterator:
    """A client of a new kernel whose chapters write into ``outputs``."""
    environment = os.environ | {OUTPUTS_VARIABLE: str(outputs), "OMP_NUM_THREADS": "1"}
    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(outputs), env=environment, extra_arguments=["--IPKernelApp.log_level=50"]
    )
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def executed(client, source: str) -> tuple[str, str, dict[str, str]]:
    """What a cell shows, its error if it fails, and the types of all names behind it; of what it prints, progress of
    computing, which is there only the first time, is left out."""
    shown: list[str] = []
    is_printing = "print(" in source

    def collect(message: dict) -> None:
        content, kind = message["content"], message["msg_type"]
        if kind in ("display_data", "execute_result") and WIDGET not in content["data"]:
            shown.append(content["data"].get("text/markdown") or content["data"].get("text/plain", ""))
        elif kind == "stream" and content["name"] == "stdout" and is_printing:
            shown.append(content["text"])

    reply = client.execute_interactive(source, output_hook=collect, user_expressions={"types": TYPES}, timeout=600)
    content = reply["content"]
    if content["status"] != "ok":
        return "".join(shown), f"{content['ename']}: {content['evalue'][:300]}", {}
    types = yaml.safe_load(content["user_expressions"]["types"]["data"]["text/plain"])
    return "".join(shown), "", types


def rerun(name: str, given: dict[str, object], outputs: Path, again: bool = True) -> list[str]:
    """Run a chapter, then every cell ``again``, one by one, but for the parameters; one line for each fault."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    changed = "\n".join(f"{parameter} = {value!r}" for parameter, value in given.items())
    faults, first, known = [], {}, {}
    with kernel(outputs) as client:
        for number, source in enumerate([sources[0], changed, *sources[1:]], -1):
            shown, error, types = executed(client, source)
            first[number] = shown
            if error:
                return [f"{name}, cell {number}: {error}"]
            types = {one: kind for one, kind in types.items() if kind != "NoneType"}  # a plot of no rows
            moved = {one: (known[one], kind) for one, kind in types.items() if known.get(one, kind) != kind}
            faults += [f"{name}, cell {number}: {one} was {old}, is {new}" for one, (old, new) in moved.items()]
            known |= types
        for number, source in enumerate(sources[1:] if again else [], 1):
            shown, error, _ = executed(client, source)
            if error:
                faults.append(f"{name}, cell {number} again: {error}")
            elif shown != first[number]:
                faults.append(f"{name}, cell {number} again shows something else")
    return faults


def main() -> None:
    """Print the faults of one chapter."""
    name, *pairs = sys.argv[1:]
    given = {key: yaml.safe_load(value) for key, _, value in (pair.partition("=") for pair in pairs)}
    with tempfile.TemporaryDirectory(dir=ROOT / "artifacts") as folder:
        print("\n".join(rerun(name, given, Path(folder))) or "every cell runs twice and shows the same")


if __name__ == "__main__":
    main()
