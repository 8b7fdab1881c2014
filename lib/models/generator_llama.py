"""Generation with llama.cpp (package ``xllamacpp``): one single-threaded process a slot.

Threads of one server wait for each other several times a layer. On idle cores two threads are no faster than two
processes; when another program takes a core they are more than ten times slower. Processes share nothing, and one that
dies takes one prompt with it.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue

from lib.models.generator import Generation, GenerationError, OnDone, Request

ROOT = Path(__file__).resolve().parents[2]
SERVER = (sys.executable, "-m", "lib.models.llama_server")
MAX_DEATHS = 3  # processes that may die in a row, without an answer between them, before the run gives up


class LlamaCppGenerator:
    """A GGUF model on llama.cpp; its own chat template.

    Args:
        gguf: the model's file.
        n_slots: prompts answered at the same time, each by a process that holds the model; 0 for one a core.
        context: tokens that a prompt and its answer may have together.
        n_threads: threads of each process.
        timeout_s: seconds after which a prompt's process is ended.
        server: command of a process that speaks as :mod:`lib.models.llama_server` does.
    """

    def __init__(
        self,
        gguf: Path,
        n_slots: int = 0,
        context: int = 4096,
        n_threads: int = 1,
        timeout_s: float = 1800,
        server: Sequence[str] = SERVER,
    ):
        self.settings = {
            "model": str(Path(gguf).resolve()),
            "context": context,
            "n_threads": max(n_threads, 1),
        }
        self.n_slots = n_slots or max(1, _n_cores() // self.settings["n_threads"])
        self.timeout_s = timeout_s
        self.server = tuple(server)

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests, ``n_slots`` at a time; see :class:`lib.models.generator.Generator`."""
        waiting, answered = SimpleQueue(), SimpleQueue()
        for number, request in enumerate(requests):
            waiting.put((number, request))
        slots = [_Slot(self, waiting, answered) for _ in range(min(self.n_slots, len(requests)))]
        deaths = 0
        try:
            for slot in slots:
                slot.start()
            for _ in requests:
                number, outcome = answered.get()
                deaths = deaths + 1 if isinstance(outcome, _DeadError) else 0
                if deaths == MAX_DEATHS:
                    _give_up(waiting, answered, outcome)
                on_done(number, outcome)
        finally:
            _empty(waiting)
            for slot in slots:
                slot.stop()


def _n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _DeadError(GenerationError):
    """The process that was to answer died."""


class _Slot(threading.Thread):
    """A thread that takes waiting requests to its own process, and starts another process when that one dies."""

    def __init__(self, generator: LlamaCppGenerator, waiting: SimpleQueue, answered: SimpleQueue):
        super().__init__(daemon=True)
        self.generator, self.waiting, self.answered = generator, waiting, answered
        self.process: subprocess.Popen | None = None
        self.is_stopped = False

    def run(self) -> None:
        with tempfile.TemporaryFile() as self.log:
            while not self.is_stopped:
                try:
                    number, request = self.waiting.get_nowait()
                except Empty:
                    break
                self.answered.put((number, self._outcome(request)))
            self.stop()

    def stop(self) -> None:
        """End the process, and the thread once it has noticed."""
        self.is_stopped = True
        self._end()

    def _end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def _outcome(self, request: Request) -> Generation | GenerationError:
        started = time.perf_counter()
        try:
            if self.process is None:
                self._start()
            reply = self._ask({"messages": request.prompt.messages} | asdict(request.sampling))
        except (_DeadError, OSError, ValueError) as error:
            self._end()
            return (
                error
                if isinstance(error, _DeadError)
                else _DeadError(f"the generator's process failed: {error}")
            )
        if "error" in reply:
            return GenerationError(f"llama.cpp refused the prompt: {reply['error']}")
        text = reply.pop("text").strip()
        return Generation(text=text, seconds=round(time.perf_counter() - started, 3), **reply)

    def _start(self) -> None:
        # threads that wait must sleep, not spin, or they take the time that the others need
        environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
        self.log.seek(0)
        self.log.truncate()
        self.process = subprocess.Popen(
            self.generator.server,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            cwd=ROOT,
            env=environment,
            text=True,
            start_new_session=True,
        )
        self._ask(self.generator.settings)

    def _ask(self, message: dict) -> dict:
        """Send one line and read one line; a process that does not answer in time is ended."""
        process, has_waited = self.process, threading.Event()

        def give_up() -> None:
            has_waited.set()
            process.kill()

        timer = threading.Timer(self.generator.timeout_s, give_up)
        timer.start()
        try:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        if has_waited.is_set():
            raise _DeadError(f"the generator gave no answer in {self.generator.timeout_s:g} s; it was ended")
        raise _DeadError(f"the generator's process died (exit code {process.wait()}): {self._last_words()}")

    def _last_words(self) -> str:
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 2000))
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _empty(queue: SimpleQueue) -> list:
    items = []
    while not queue.empty():
        try:
            items.append(queue.get_nowait())
        except Empty:  # another thread took it first
            break
    return items


def _give_up(waiting: SimpleQueue, answered: SimpleQueue, last: GenerationError) -> None:
    """Answer all that waits with an error."""
    for number, _ in _empty(waiting):
        answered.put(
            (number, GenerationError(f"not tried after {MAX_DEATHS} deaths in a row; the last: {last}"))
        )
