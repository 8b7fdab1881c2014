"""What training a generator on preferences takes: a GPU's memory, and hours.

Memory is parameters times bytes. Trained in full, a parameter takes 16 bytes: its value, its gradient and Adam's two
moments, in float32 (Rajbhandari et al., SC 2020, 3.1). With adapters (LoRA, Hu et al., ICLR 2022) the model stays as it
is, 2 bytes a parameter in bfloat16, and only the adapters take 16. The reference's probabilities are computed before
training, so that no second model is held. Time counts operations as :mod:`extras.preflight` does.
"""

import math
from pathlib import Path
from typing import NamedTuple

from lib.models.encoders import GIB, GPU_FLOPS, NEEDS_GPU_GIB, ROOM, gpu
from lib.models.weights import fetch, locked
from lib.words import StudyError

TRAINED_BYTES, FROZEN_BYTES = 16, 2
ADAPTER_SHARE = 4e-4  # of the parameters per rank, where all linear layers have adapters; less in larger models
OPERATIONS = {"full": 10, "lora": 8}  # a parameter and token: reference 2, forward 2, again 2, backward 4 or 2
CHARACTERS_A_TOKEN = 3  # of filings, which are full of numbers


class Needs(NamedTuple):
    """What training takes."""

    n_parameters: int
    memory_gib: float  # of the GPU, with room for what a step computes
    hours: float  # on one data-centre GPU, good to a factor of about three


def n_parameters(weights: str) -> int:
    """The parameters of a model of the lock file, or of one in a directory of safetensors files."""
    if not Path(weights).is_dir() and "parameters" in locked(weights):
        return locked(weights)["parameters"]
    from safetensors import safe_open

    n_values = 0
    for path in fetch(weights).glob("*.safetensors"):
        with safe_open(path, "numpy") as tensors:
            slices = map(tensors.get_slice, tensors.keys())  # of which only the header is read
            n_values += sum(math.prod(one.get_shape()) for one in slices)
    return n_values


def estimate(n_parameters: int, settings: dict, n_characters: int = 0) -> Needs:
    """Memory and time of training.

    Args:
        n_parameters: of the model.
        settings: the profile's section ``preference``.
        n_characters: read in one epoch: each pair's prompt twice, and both answers; see :func:`characters`.

    Raises:
        StudyError: no such method.
    """
    method = settings["method"]
    if method not in OPERATIONS:
        raise StudyError(f"preference.method is {method!r}: say {' or '.join(OPERATIONS)}")
    adapters = FROZEN_BYTES + TRAINED_BYTES * ADAPTER_SHARE * settings["rank"]
    n_bytes = n_parameters * (TRAINED_BYTES if method == "full" else adapters)
    operations = OPERATIONS[method] * n_parameters * n_characters / CHARACTERS_A_TOKEN * settings["epochs"]
    return Needs(n_parameters, ROOM * n_bytes / GIB, operations / GPU_FLOPS / 3600)


def check_machine(profile: dict) -> Needs:
    """What training a profile's generator takes; its time is not known before the pairs are.

    Raises:
        StudyError: its backend does not train, or there is no GPU, or too small a one.
    """
    settings, weights = profile["preference"], profile["generator"]["weights"]
    if profile["generator"]["backend"] != "transformers":
        raise StudyError(
            f"the generator {weights} is run by {profile['generator']['backend']}, which does not train: say --profile "
            "preference or paper, or a profile whose generator has backend: transformers"
        )
    needed, found = estimate(n_parameters(weights), settings), gpu()
    size = f"{weights} has {needed.n_parameters / 1e9:.1f} billion parameters"
    if found is None and FROZEN_BYTES * needed.n_parameters >= NEEDS_GPU_GIB * GIB:
        raise StudyError(
            f"there is no GPU: {size}, and training it with preference.method {settings['method']} takes one of "
            f"{needed.memory_gib:.0f} GiB; run it where there is one, or choose a smaller generator"
        )
    if found is not None and found[1] < needed.memory_gib:
        smaller = "; say preference.method: lora" if settings["method"] == "full" else ""
        raise StudyError(
            f"{found[0]} has {found[1]:.0f} GiB: {size}, and training it takes {needed.memory_gib:.0f} GiB{smaller}"
        )
    return needed
