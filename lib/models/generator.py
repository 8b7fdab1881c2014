"""The generator that a profile names; llama.cpp (package ``xllamacpp``) as one single-threaded process per slot.

Threads of one server wait for each other several times a layer. On idle cores two threads are no faster than two
processes; when another program takes a core they are more than ten times slower. Processes share nothing, and one that
dies takes one prompt with it. In a ``ProcessPoolExecutor`` it would take all, and its exit code and last words as well.
"""

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.pool import ThreadPool
from pathlib import Path

from lib.files import end_with_parent
from lib.models.prompts import Generation, GenerationError, Generator, OnDone, Request
from lib.words import StudyError

OPTIONS = {"llama.cpp": ("n_slots", "context", "n_threads"), "transformers": ("batch_size", "context", "precision")}
MAX_DEATHS = 3  # processes that may die in a row, without an answer between them, before the run gives up
SPAWN = multiprocessing.get_context("spawn")


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


def answer(server, request: dict) -> dict:
    """llama.cpp's reply to a request: the fields of a :class:`Generation` but its seconds, or ``error``."""
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


def load_llama(settings: dict) -> Callable[[dict], dict]:
    """What answers requests (``messages`` and the sampling) by the ``model``, ``context`` and ``n_threads`` given.

    One prompt at a time and no prompt cache: text drawn with a seed then depends on the prompt alone. With other
    prompts in the batch, or a prefix kept from an earlier prompt, sums are rounded in another order and most texts come
    out otherwise.
    """
    # threads that wait must sleep, not spin, or they take the time that the others need
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_parallel = 1
    params.n_ctx = settings["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["n_threads"]
    params.fit_params = False  # take the context as given, whatever the free memory
    params.warmup = False
    params.cache_ram_mib = 0
    params.verbosity = -1
    return partial(answer, xllamacpp.Server(params))


def serve(load: Callable[[dict], Callable], settings: dict, pipe: Connection, log: str) -> None:
    """Answer the requests of a pipe in a process of its own, which prints into a file."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted and ends this process
    with open(log, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    reply = load(settings)
    while True:
        pipe.send(reply(pipe.recv()))


class LlamaCppGenerator:
    """A GGUF model on llama.cpp; its own chat template.

    Args:
        n_slots: prompts answered at the same time, each by a process that has the model in memory; 0 for one per core.
        context: tokens that a prompt and its answer may have together.
        timeout_s: seconds after which a prompt's process is ended.
        load: gives what answers requests, in each process, as :func:`load_llama` does.
    """

    def __init__(self, gguf: Path, n_slots=0, context=4096, n_threads=1, timeout_s=1800.0, load=load_llama):
        n_threads = max(n_threads, 1)
        n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.settings = {"model": str(Path(gguf).resolve()), "context": context, "n_threads": n_threads}
        self.n_slots = n_slots or max(1, n_cores // n_threads)
        self.timeout_s, self.load = timeout_s, load

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in their order, ``n_slots`` at a time; see :class:`lib.models.prompts.Generator`."""
        slots = [Slot(self) for _ in range(max(min(self.n_slots, len(requests)), 1))]
        idle, deaths, why_not = [*slots], 0, ""

        def outcome(numbered: tuple[int, Request]) -> tuple[int, Generation | GenerationError]:
            slot = idle.pop()  # there are as many as threads
            found = GenerationError(why_not) if why_not else slot.outcome(numbered[1])
            idle.append(slot)
            return numbered[0], found

        with ThreadPool(len(slots)) as threads:
            try:
                for number, found in threads.imap_unordered(outcome, enumerate(requests)):
                    deaths = deaths + 1 if isinstance(found, _DeadError) else 0
                    if deaths == MAX_DEATHS:
                        why_not = f"not tried after {MAX_DEATHS} deaths in a row; the last: {found}"
                    on_done(number, found)
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
        """The answer, or why there is none; a process that does not answer in time is ended."""
        started, limit, sampling = time.perf_counter(), self.generator.timeout_s, request.sampling
        process = self.process or self._start()
        try:
            self.pipe.send({"messages": request.prompt.messages, **sampling.params, "seed": sampling.seed})
            reply = self.pipe.recv() if self.pipe.poll(limit) else None
        except (EOFError, OSError):
            process.join()
            said = Path(self.log.name).read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            self.end()
            return _DeadError(f"the generator's process died (exit code {process.exitcode}): {said[-1]}")
        if reply is None:
            self.end()
            return _DeadError(f"the generator gave no answer in {limit:g} s; it was ended")
        if "error" in reply:
            return GenerationError(f"llama.cpp refused the prompt: {reply['error']}")
        text = reply.pop("text").strip()
        return Generation(text=text, seconds=round(time.perf_counter() - started, 3), **reply)

    def _start(self) -> multiprocessing.Process:
        self.log, (self.pipe, other) = tempfile.NamedTemporaryFile(), SPAWN.Pipe()  # noqa: SIM115
        given = self.generator.load, self.generator.settings, other, self.log.name
        process = SPAWN.Process(target=serve, args=given, daemon=True)
        process.start()
        other.close()
        self.process = process
        if self.is_closed:
            process.kill()
        return process

    def end(self, is_closed: bool = False) -> None:
        """End the process; also one that another thread is starting, when the slot is closed."""
        self.is_closed |= is_closed
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.join()
