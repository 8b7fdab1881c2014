"""The generator that a profile names; llama.cpp (package ``xllamacpp``) as one single-threaded process per slot.

Threads of one server wait for each other several times a layer. On idle cores two threads are no faster than two
processes; when another program takes a core they are more than ten times slower. Processes share nothing, and one that
dies takes one prompt with it, which is why this is no ``ProcessPoolExecutor``: a worker's death breaks all of its pool,
and its exit code and last words are lost. ``python -m lib.models.generator`` is such a process.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path

from lib.files import ROOT, end_with_parent
from lib.models.prompts import Generation, GenerationError, Generator, OnDone, Request
from lib.words import StudyError

SERVER = (sys.executable, "-m", "lib.models.generator")
OPTIONS = {"llama.cpp": ("n_slots", "context", "n_threads"), "transformers": ("batch_size", "context", "precision")}
MAX_DEATHS = 3  # processes that may die in a row, without an answer between them, before the run gives up


def open_generator(settings: dict, directory: Path) -> Generator:
    """The generator of a profile's section: its ``backend``, with those of ``OPTIONS`` that the section sets.

    Raises:
        StudyError: llama.cpp's directory does not contain exactly one GGUF file.
    """
    backend = settings["backend"]
    taken = {name: settings[name] for name in OPTIONS[backend] if name in settings}
    if backend == "transformers":
        from lib.models.generator_transformers import TransformersGenerator  # takes seconds to import

        return TransformersGenerator(directory, **taken)
    found = sorted(Path(directory).glob("*.gguf"))
    if len(found) != 1:
        raise StudyError(f"{directory} holds {len(found)} GGUF files; the generator needs exactly one")
    return LlamaCppGenerator(found[0], **taken)


class LlamaCppGenerator:
    """A GGUF model on llama.cpp; its own chat template.

    Args:
        n_slots: prompts answered at the same time, each by a process that has the model in memory; 0 for one per core.
        context: tokens that a prompt and its answer may have together.
        timeout_s: seconds after which a prompt's process is ended.
        server: command of a process that speaks as :func:`serve` does.
    """

    def __init__(self, gguf: Path, n_slots=0, context=4096, n_threads=1, timeout_s=1800.0, server: Sequence = SERVER):
        n_threads = max(n_threads, 1)
        n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.settings = {"model": str(Path(gguf).resolve()), "context": context, "n_threads": n_threads}
        self.n_slots = n_slots or max(1, n_cores // n_threads)
        self.timeout_s, self.server = timeout_s, server

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in their order, ``n_slots`` at a time; see :class:`lib.models.prompts.Generator`."""
        slots, of_thread, deaths, why_not = [], threading.local(), 0, ""

        def open_slot() -> None:
            of_thread.slot = Slot(self)
            slots.append(of_thread.slot)

        def answer(numbered: tuple[int, Request]) -> tuple[int, Generation | GenerationError]:
            number, request = numbered
            return number, GenerationError(why_not) if why_not else of_thread.slot.outcome(request)

        with ThreadPool(max(min(self.n_slots, len(requests)), 1), open_slot) as threads:
            try:
                for number, outcome in threads.imap_unordered(answer, enumerate(requests)):
                    deaths = deaths + 1 if isinstance(outcome, _DeadError) else 0
                    if deaths == MAX_DEATHS:
                        why_not = f"not tried after {MAX_DEATHS} deaths in a row; the last: {outcome}"
                    on_done(number, outcome)
            finally:
                why_not = why_not or "the generator was closed"
                for slot in slots:
                    slot.end(is_closed=True)


class _DeadError(GenerationError):
    """The process that was to answer died."""


class Slot:
    """A process that answers one request at a time, and is started again when it has died."""

    def __init__(self, generator: LlamaCppGenerator):
        self.generator, self.process, self.is_closed = generator, None, False

    def outcome(self, request: Request) -> Generation | GenerationError:
        """The answer, or why there is none."""
        started = time.perf_counter()
        try:
            if self.process is None:
                self._start()
            drawn = request.sampling.params | {"seed": request.sampling.seed}
            reply = self._ask({"messages": request.prompt.messages} | drawn)
        except (_DeadError, OSError, ValueError) as error:
            self.end()
            is_dead = isinstance(error, _DeadError)
            return error if is_dead else _DeadError(f"the generator's process failed: {error}")
        if "error" in reply:
            return GenerationError(f"llama.cpp refused the prompt: {reply['error']}")
        text = reply.pop("text").strip()
        return Generation(text=text, seconds=round(time.perf_counter() - started, 3), **reply)

    def end(self, is_closed: bool = False) -> None:
        """End the process; also one that another thread is starting, when the slot is closed."""
        self.is_closed |= is_closed
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        # threads that wait must sleep, not spin, or they take the time that the others need
        environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log, "text": True}
        command, place = self.generator.server, {"cwd": ROOT, "env": environment}
        self.process = process = subprocess.Popen(command, **pipes, **place, start_new_session=True)
        if self.is_closed:
            process.kill()
        self._ask(self.generator.settings)

    def _ask(self, message: dict) -> dict:
        """Send one line and read one line; a process that does not answer in time is ended."""
        process, started, limit = self.process, time.perf_counter(), self.generator.timeout_s
        if process is None:
            raise _DeadError("the generator was closed")
        timer = threading.Timer(limit, process.kill)
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
        if time.perf_counter() - started >= limit:
            raise _DeadError(f"the generator gave no answer in {limit:g} s; it was ended")
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 2000))
        said = self.log.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise _DeadError(f"the generator's process died (exit code {process.wait()}): {said[-1]}")


def answer(server, request: dict) -> dict:
    """The reply to a request: the fields of a :class:`Generation` but its seconds, or ``error``."""
    # min_p of 0: llama.cpp otherwise drops unlikely tokens without being asked to
    reply = server.handle_chat_completions(request | {"min_p": 0.0, "cache_prompt": False})
    if "error" in reply:
        return {"error": reply["error"]["message"]}
    choice = reply["choices"][0]
    return {
        "text": choice["message"]["content"] or "",
        "n_prompt_tokens": reply["usage"]["prompt_tokens"],
        "n_tokens": reply["usage"]["completion_tokens"],
        "finish_reason": choice["finish_reason"],
    }


def serve() -> None:
    """A llama.cpp server over standard input and output, one JSON line a request, until the input ends.

    It reads a line of settings (``model``, ``context``, ``n_threads``), answers ``{"is_ready": true}``, and then reads
    requests (``messages`` and the sampling) and answers each, see :func:`answer`. One prompt at a time and no prompt
    cache: text drawn with a seed then depends on the prompt alone. With other prompts in the batch, or a prefix kept
    from an earlier prompt, sums are rounded in another order and most texts come out otherwise.
    """
    end_with_parent()
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)  # whatever llama.cpp prints must not mix with the replies
        import xllamacpp

        settings, params = json.loads(sys.stdin.readline()), xllamacpp.CommonParams()
        params.model.path = settings["model"]
        params.n_parallel = 1
        params.n_ctx = settings["context"]
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
        params.fit_params = False  # take the context as given, whatever the free memory
        params.warmup = False
        params.cache_ram_mib = 0
        params.verbosity = -1
        server = xllamacpp.Server(params)
        print(json.dumps({"is_ready": True}), file=replies, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(server, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    serve()
