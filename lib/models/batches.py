"""Batches as large as memory allows: a batch that does not fit is halved, and the size that fits is kept."""

from collections.abc import Callable
from typing import TypeVar

from lib.words import StudyError

Result = TypeVar("Result")


def in_batches_that_fit(compute: Callable[[int], Result], batch_size: int) -> tuple[Result, int]:
    """Compute with the largest batch size that memory allows: ``batch_size``, or a half, a quarter … of it.

    Args:
        compute: given a batch size, computes everything; may run out of memory.
        batch_size: the first to try.

    Returns:
        The result, and the batch size that did.

    Raises:
        StudyError: not even one text fits.
    """
    import torch

    while True:
        try:
            return compute(batch_size), batch_size
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if batch_size == 1:
            raise StudyError("the GPU's memory does not hold the model and one text; take PROFILE=default")
        batch_size //= 2
