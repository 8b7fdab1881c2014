"""What training a generator on preferences takes: a GPU's memory, and hours.

Memory is parameters times bytes. Trained in full, a parameter takes 16 bytes: its value, its gradient and Adam's two
moments, in float32 (Rajbhandari et al., SC 2020, 3.1). With adapters (LoRA, Hu et al., ICLR 2022) the model stays as it
is, 2 bytes a parameter in bfloat16, and only the adapters take 16. The reference's probabilities are computed before
training, so that no second model is held. Time counts operations as :mod:`extras.preflight` does.
"""

import math
from pathlib import Path

from lib.models.encoders import GIB, GPU_FLOPS, NEEDS_GPU_GIB, ROOM, gpu
from lib.models.weights import fetch, locked
from lib.words import StudyError

TRAINED_BYTES, FROZEN_BYTES = 16, 2
ADAPTER_SHARE = 4e-4  # of the parameters per rank, where all linear layers have adapters; less in larger models
OPERATIONS = {"full": 10, "lora": 8}  # a parameter and token: reference 2, forward 2, again 2, backward 4 or 2
CHARACTERS_A_TOKEN = 3  # of filings, which are full of numbers


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


def memory_gib(n_parameters: int, settings: dict) -> float:
    """The GPU's memory, with room for what a step computes; ``settings`` is the profile's section ``preference``."""
    adapters = FROZEN_BYTES + TRAINED_BYTES * ADAPTER_SHARE * settings["rank"]
    return ROOM * n_parameters * (TRAINED_BYTES if settings["method"] == "full" else adapters) / GIB


def hours(n_parameters: int, settings: dict, n_characters: int) -> float:
    """Hours on one data-centre GPU, good to a factor of about three; ``n_characters`` are read in one epoch."""
    operations = OPERATIONS[settings["method"]] * n_parameters * n_characters / CHARACTERS_A_TOKEN
    return operations * settings["epochs"] / GPU_FLOPS / 3600


def check_machine(profile: dict) -> int:
    """The parameters of a profile's generator; a StudyError where its backend does not train, or the GPU is too small.

    A small model is trained without a GPU.
    """
    settings, generator = profile["preference"], profile["generator"]
    weights, method = generator["weights"], settings["method"]
    if generator["backend"] != "transformers" or method not in OPERATIONS:
        run = f"the generator {weights} is run by {generator['backend']}, and preference.method is {method!r}"
        raise StudyError(f"{run}: say --profile preference or paper, with method {' or '.join(OPERATIONS)}")
    n, (title, size) = n_parameters(weights), gpu() or ("no GPU", 0.0)
    needed, is_small = memory_gib(n, settings), FROZEN_BYTES * n < NEEDS_GPU_GIB * GIB
    if size < needed and (size or not is_small):
        of = f"{weights} has {n / 1e9:.1f} billion parameters, and training it by {method} takes {needed:.0f} GiB"
        raise StudyError(f"{of} of a GPU; here is {title}, {size:.0f} GiB: say preference.method: lora or take another")
    return n
