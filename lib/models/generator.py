"""The generator that a profile names; llama.cpp (package ``xllamacpp``) as one single-threaded process per slot.

Threads of one server wait for each other: when another program takes a core they are more than ten times slower than
processes. A process that dies takes one prompt with it; in a ``ProcessPoolExecutor`` it would take all.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from multiprocessing.pool import ThreadPool
from pathlib import Path

from lib.files import ROOT, end_with_parent
from lib.models.prompts import Generation, GenerationError, Generator, OnDone, Request
from lib.schema import StudyError

MAX_DEATHS = 3  # processes that may die in a row, without an answer between them, before all is given up
SERVER = (sys.executable, "-m", "lib.models.generator")  # takes the file descriptor of a pipe, and settings as JSON


def open_generator(settings: dict, directory: Path) -> Generator:
    """The generator of a profile's section, with the weights of a directory."""
    if settings["backend"] == "transformers":
        from lib.models.generator_transformers import TransformersGenerator  # takes seconds to import

        return TransformersGenerator(directory, context=settings["context"])
    found = [*Path(directory).glob("*.gguf")]
    if len(found) != 1:
        raise StudyError(f"{directory} holds {len(found)} GGUF files; the generator needs exactly one")
    return LlamaCppGenerator(found[0], settings["n_slots"], settings["context"], settings["n_threads"])


class _DeadError(GenerationError):
    """The process that was to answer died."""


class LlamaCppGenerator:
    """A GGUF model on llama.cpp; its own chat template.

    ``n_slots`` prompts are answered at a time (0 for one per core), each in ``timeout_s`` at most by a process of
    ``server``, which answers as :func:`serve` does. ``context`` is in tokens.
    """

    def __init__(self, gguf: Path, n_slots=0, context=4096, n_threads=1, timeout_s=1800.0, server: Sequence = SERVER):
        n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.settings = {"model": str(gguf.resolve()), "context": context, "n_threads": n_threads}
        self.n_slots = n_slots or max(1, n_cores // n_threads)
        self.timeout_s, self.server = timeout_s, server

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in their order; see :class:`lib.models.prompts.Generator`."""
        slots = [Slot(self) for _ in range(max(min(self.n_slots, len(requests)), 1))]
        idle, deaths = [*slots], 0

        def outcome(numbered: tuple[int, Request]) -> tuple[int, Generation | GenerationError]:
            slot = idle.pop()  # there are as many as threads
            found = slot.outcome(numbered[1])
            idle.append(slot)
            return numbered[0], found

        with ThreadPool(len(slots)) as threads:
            try:
                for number, found in threads.imap_unordered(outcome, enumerate(requests)):
                    on_done(number, found)
                    deaths = deaths + 1 if isinstance(found, _DeadError) else 0
                    if deaths == MAX_DEATHS:
                        raise found
            finally:
                for slot in slots:
                    slot.end(is_closed=True)


class Slot:
    """A process that answers one request at a time, and is started again when it has died."""

    def __init__(self, generator: LlamaCppGenerator):
        self.generator, self.process, self.is_closed = generator, None, False

    def outcome(self, request: Request) -> Generation | GenerationError:
        """The answer, or why there is none."""
        if self.is_closed:
            return _DeadError("the generator was closed")
        started, limit, sampling = time.perf_counter(), self.generator.timeout_s, request.sampling
        process = self.process or self._start()
        try:
            self.pipe.send({"messages": request.prompt.messages, **sampling.params, "seed": sampling.seed})
            reply = self.pipe.recv() if self.pipe.poll(limit) else None
        except (EOFError, OSError):
            code = process.wait()
            self.log.seek(0)
            said = self.log.read().strip().splitlines() or ["it said nothing"]
            self.end()
            return _DeadError(f"the generator's process died (exit code {code}): {said[-1]}")
        if reply is None:
            self.end()
            return _DeadError(f"the generator gave no answer in {limit:g} s; it was ended")
        if "error" in reply:
            return GenerationError(f"llama.cpp refused the prompt: {reply['error']}")
        seconds = round(time.perf_counter() - started, 3)
        return Generation(**reply | {"text": reply["text"].strip()}, seconds=seconds)

    def _start(self) -> subprocess.Popen:
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.pipe, other = Pipe()
        command = [*self.generator.server, str(other.fileno()), json.dumps(self.generator.settings)]
        # threads that wait must sleep, not spin, or they take the time that the others need
        place = {"cwd": ROOT, "env": os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}, "start_new_session": True}
        ends = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log, "pass_fds": [other.fileno()]}
        self.process = process = subprocess.Popen(command, **ends, **place)
        other.close()
        if self.is_closed:
            process.kill()
        return process

    def end(self, is_closed: bool = False) -> None:
        """End the process; of a closed slot also one that another thread is starting."""
        self.is_closed |= is_closed
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()


def answer(server, request: dict) -> dict:
    """The reply to a request: the fields of a :class:`Generation` but its seconds, or ``error``."""
    # min_p of 0: llama.cpp otherwise drops unlikely tokens without being asked to
    reply = server.handle_chat_completions(request | {"min_p": 0.0, "cache_prompt": False})
    if "error" in reply:
        return {"error": reply["error"]["message"]}
    choice, usage = reply["choices"][0], reply["usage"]
    counts = {"n_prompt_tokens": usage["prompt_tokens"], "n_tokens": usage["completion_tokens"]}
    return {"text": choice["message"]["content"] or "", **counts, "finish_reason": choice["finish_reason"]}


def serve(pipe: Connection, settings: dict) -> None:
    """Answer requests (``messages`` and the sampling) with the ``model``, ``context`` and ``n_threads`` of settings.

    One prompt at a time and no prompt cache: text drawn with a seed then depends on the prompt alone. Otherwise sums
    are rounded in another order, and most texts come out different.
    """
    end_with_parent()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = settings["model"], settings["context"], 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
    params.fit_params = False  # take the context as given, whatever the free memory
    params.warmup, params.cache_ram_mib, params.verbosity = False, 0, -1
    server = xllamacpp.Server(params)
    while True:
        pipe.send(answer(server, pipe.recv()))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), json.loads(sys.argv[2]))
