"""What is asked of a language model and what it answers: the interface of every runtime."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lib.schema import StudyError


class GenerationError(StudyError):
    """One prompt was not answered; the message says why."""


@dataclass(frozen=True)
class Prompt:
    """What the model is asked; without a system line its own chat template decides on one."""

    user: str
    system: str | None = None

    @property
    def messages(self) -> list[dict[str, str]]:
        system = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*system, {"role": "user", "content": self.user}]


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn, from all tokens."""

    max_tokens: int  # new tokens at most
    temperature: float = 0.0  # 0 takes the likeliest token always
    seed: int = 0

    @property
    def params(self) -> dict:
        """All but the seed, as llama.cpp takes it and as keys contain it."""
        return {"max_tokens": self.max_tokens, "temperature": self.temperature, "top_p": 1.0, "top_k": 0}


class Request(NamedTuple):
    """One prompt with its sampling."""

    prompt: Prompt
    sampling: Sampling


@dataclass(frozen=True)
class Generation:
    """What a model wrote."""

    text: str  # without the prompt and without white space around it
    n_prompt_tokens: int
    n_tokens: int  # written, an end-of-text token included
    finish_reason: str  # ``stop`` when the model ended, ``length`` when it was cut off
    seconds: float  # wall time; in a batch, the batch's time shared equally


OnDone = Callable[[int, Generation | GenerationError], None]


class Generator(Protocol):
    """Anything that answers prompts."""

    def generate(self, requests: Sequence[Request], on_done: OnDone) -> None:
        """Answer requests in any order; ``on_done(i, outcome)`` is called once for each, in the caller's thread.

        A GenerationError where no more can be answered.
        """


def fault(generation: Generation, sampling: Sampling) -> str | None:
    """Why a generation cannot be used, or None. A text that was cut at ``max_tokens`` can be used."""
    limit, n_tokens = sampling.max_tokens, generation.n_tokens
    if not generation.text.strip():
        return "empty answer"
    if n_tokens > limit:
        return f"{n_tokens} tokens, past the limit of {limit}"
    if generation.finish_reason == "length" and n_tokens < limit:
        full = f"context full after {generation.n_prompt_tokens} tokens of prompt and {n_tokens} of {limit} new ones"
        return f"{full}; shorten the prompt or raise generator.context in the profile"
    return None
