"""The generator that a profile names."""

from pathlib import Path

from lib.models.generator_llama import LlamaCppGenerator
from lib.models.prompts import Generator
from lib.words import StudyError

OPTIONS = {
    "llama.cpp": ("n_slots", "context", "n_threads"),
    "transformers": ("batch_size", "context", "precision"),
}


def open_generator(settings: dict, directory: Path) -> Generator:
    """The generator of a profile's section: its ``backend``, with those of ``OPTIONS`` that the section sets.

    Raises:
        StudyError: there is no such backend, or the directory does not contain the one GGUF file that llama.cpp takes.
    """
    backend = settings["backend"]
    if backend not in OPTIONS:
        raise StudyError(f"no generator backend {backend!r}: say {' or '.join(OPTIONS)}")
    taken = {name: settings[name] for name in OPTIONS[backend] if name in settings}
    if backend == "transformers":
        from lib.models.generator_transformers import TransformersGenerator  # takes seconds to import

        return TransformersGenerator(directory, **taken)
    found = sorted(Path(directory).glob("*.gguf"))
    if len(found) != 1:
        raise StudyError(f"{directory} holds {len(found)} GGUF files; the generator needs exactly one")
    return LlamaCppGenerator(found[0], **taken)
