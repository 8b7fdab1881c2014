"""The generator that a profile names; llama.cpp (package ``xllamacpp``) as one single-threaded process per slot.

Threads of one server wait for each other: when another program takes a core they are more than ten times slower than
processes. Each process has a ``ProcessPoolExecutor`` of its own, so that one that dies takes a single prompt with it.
"""

import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from lib.files import end_with_parent
from lib.models.prompts import Generation, GenerationError, Generator, OnDone, Request
from lib.schema import StudyError

MAX_FAILURES = 3  # in a row, of processes, before no further prompt is tried


def open_generator(settings: dict, directory: Path) -> Generator:
    """The generator of a profile's section, with the weights of a directory."""
    if settings["backend"] == "transformers":
        from lib.models.generator_transformers import TransformersGenerator  # takes seconds to import

        return TransformersGenerator(directory, context=settings["context"])
    models = [*Path(directory).glob("*.gguf")]
    if len(models) != 1:
        raise StudyError(f"{directory} holds {len(models)} GGUF files; the generator needs exactly one")
    return LlamaCppGenerator(models[0], settings["n_slots"], settings["context"], settings["n_threads"])


class ProcessError(GenerationError):
    """The process that was to answer failed, died or exceeded its time."""


class LlamaCppGenerator:
    """A GGUF model on llama.cpp, with its own chat template.

    Answers ``n_slots`` prompts at a time (0: one per core), each within ``timeout_s``. ``context`` is in tokens.
    """

    def __init__(self, gguf: Path, n_slots: int = 0, context: int = 4096, n_threads: int = 1, timeout_s: float = 1800):
        n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.n_slots, self.timeout_s = n_slots or max(1, n_cores // n_threads), timeout_s
        self.settings = (str(gguf.resolve()), context, n_threads)

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in their order; see :class:`lib.models.prompts.Generator`."""
        waiting, n_failures = deque(enumerate(requests)), 0
        idle: list[ProcessPoolExecutor] = []
        running: dict[Future, tuple[int, float, ProcessPoolExecutor]] = {}  # request, start and process
        try:
            while waiting or running:
                while waiting and len(running) < self.n_slots:
                    (number, request), slot = waiting.popleft(), idle.pop() if idle else open_slot()
                    running[slot.submit(answer, self.settings, request)] = number, time.perf_counter(), slot
                oldest_s = time.perf_counter() - min(started for _, started, _ in running.values())
                finished, _ = wait(running, self.timeout_s - oldest_s, FIRST_COMPLETED)
                for future in finished or [next(iter(running))]:  # the first is the oldest
                    number, started, slot = running.pop(future)
                    idle.append(slot)
                    try:
                        outcome, n_failures = self._outcome(future, started, slot), 0
                    except ProcessError as error:
                        idle.remove(slot)
                        close(slot)
                        outcome, n_failures = error, n_failures + 1
                    on_done(number, outcome)
                    if n_failures == MAX_FAILURES:
                        raise outcome
        finally:
            for slot in [*idle, *(slot for *_, slot in running.values())]:
                close(slot)

    def _outcome(self, future: Future, started: float, slot: ProcessPoolExecutor) -> Generation | GenerationError:
        """The answer, or why the prompt has none; a ProcessError where the process is of no further use."""
        if not future.done():
            raise ProcessError(f"no answer within {self.timeout_s:g} s; the generator's process was ended")
        try:
            reply = future.result()
        except BrokenProcessPool:
            raise ProcessError(f"the generator's process died (exit code {close(slot)})") from None
        except Exception as error:  # llama.cpp's binding raises a plain RuntimeError
            raise ProcessError(f"llama.cpp failed with {self.settings[0]}: {error}") from None
        if "error" in reply:
            return GenerationError(f"llama.cpp refused the prompt: {reply['error']}")
        seconds = round(time.perf_counter() - started, 3)
        return Generation(**reply | {"text": reply["text"].strip()}, seconds=seconds)


def open_slot() -> ProcessPoolExecutor:
    """A process that answers requests one after the other, see :func:`answer`; started by its first one."""
    return ProcessPoolExecutor(1, get_context("spawn"), start_process)


def close(slot: ProcessPoolExecutor) -> int | None:
    """Kill a slot's process, whatever it is doing; gives its exit code."""
    processes = [*(slot._processes or {}).values()]  # Python 3.14 has kill_workers for it
    for process in processes:
        process.kill()
    slot.shutdown()
    return processes[0].exitcode if processes else None


def start_process() -> None:
    """Set up a slot's process: it ends with its parent, which alone is interrupted by Ctrl-C."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # threads that spin take the time that other slots need


@cache
def open_server(model: str, context: int, n_threads: int):
    """The server of a slot's process.

    One prompt at a time and no prompt cache: text drawn with a seed then depends on the prompt alone. Otherwise sums
    are rounded in another order, and most texts come out different.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = model, context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_threads
    params.fit_params = False  # take the context as given, whatever the free memory
    params.warmup, params.cache_ram_mib, params.verbosity = False, 0, -1
    return xllamacpp.Server(params)


def answer(settings: tuple[str, int, int], request: Request) -> dict:
    """In a slot's process: the fields of a :class:`Generation` but its seconds, or ``error``."""
    prompt, sampling = request
    # min_p of 0: llama.cpp otherwise drops unlikely tokens without being asked to
    asked = {"messages": prompt.messages, **sampling.params, "seed": sampling.seed, "min_p": 0.0, "cache_prompt": False}
    reply = open_server(*settings).handle_chat_completions(asked)
    if "error" in reply:
        return {"error": reply["error"]["message"]}
    choice, usage = reply["choices"][0], reply["usage"]
    counts = {"n_prompt_tokens": usage["prompt_tokens"], "n_tokens": usage["completion_tokens"]}
    return {"text": choice["message"]["content"] or "", **counts, "finish_reason": choice["finish_reason"]}
