"""Before a long run: what would be downloaded, whether disk and GPU suffice, and roughly how long it takes.

Time is estimated from sizes of models and texts, good to a factor of about three: a forward pass takes two operations
per parameter and token (Kaplan et al., 2020, 2.1), writing is bound by reading the weights.
"""

import shutil
from pathlib import Path

from lib.models.encoders import GIB, gpu
from lib.models.weights import PICKLED, hub_models, local_snapshot
from lib.schema import StudyError
from lib.study import Study

FILING_TOKENS = 110_000  # of a filing, about what FinanceBench's have
GPU_FLOPS, GPU_BYTES_A_SECOND = 4e13, 6e11  # that a data-centre GPU reaches in bfloat16
NEEDS_GPU_GIB = 4.0  # a model of this size is not run on a processor
ROOM = 1.3  # memory that a model needs, in sizes of its weights
DOWNLOAD_BYTES_A_SECOND = 3e7
DISK_GIB_A_FILING = 0.02  # of vectors and runs
ANSWERS = 5  # answers per question that the chapters have written
ANSWER_TOKENS = 6_000
BATCH = 16
TIMEOUT_S = 3.0


def preflight(study: Study, say=print) -> None:
    """Report before a study's run what it downloads and needs.

    Raises:
        StudyError: something is wrong; every problem is listed.
    """
    from huggingface_hub.constants import HF_HUB_CACHE

    n_filings, n_questions = len(study.dataset.filings), len(study.questions)
    models, problems = hub_models(study.profile), []
    missing = [record for record in models.values() if local_snapshot(record) is None]
    download_gib = sum(record["gib"] for record in missing)
    for role, record in models.items():
        hashes, place = record["hub"].get("sha256", {}), "to be downloaded" if record in missing else "here"
        if not hashes:
            problems.append(f"{record['title']} has no SHA-256 in the lock file: python -m lib pin writes it")
        if any(Path(file).match(PICKLED) for file in hashes):
            place += ", a PyTorch file that is read as tensors only"
        say(f"preflight: {role}: {record['title']}, {record['gib']} GiB, {place}")
    if missing and not is_reachable(missing[0]["hub"]["id"]):
        names = ", ".join(record["title"] for record in missing)
        problems.append(f"the hub cannot be reached, and {names} would have to be downloaded")
    for place, needed in ((Path(HF_HUB_CACHE), download_gib), (study.home, DISK_GIB_A_FILING * n_filings)):
        free = free_gib(place)
        say(f"preflight: disk: {needed:.1f} GiB in {place.name}, {free:.0f} GiB free")
        if free < needed:
            problems.append(f"the disk of {place} has {free:.1f} GiB free and {needed:.1f} are needed")
    largest, title = max(((record["gib"], record["title"]) for record in models.values()), default=(0, ""))
    if largest >= NEEDS_GPU_GIB:
        found = gpu()
        graphics = f"{found[0]} with {found[1]:.0f} GiB" if found else "none"
        about = f"GPU: {graphics}, and {title} needs {ROOM * largest:.0f} GiB"
        say(f"preflight: {about}")
        if not found or found[1] < ROOM * largest:
            problems.append(f"{about}; take PROFILE=default")
    asked = f"{n_filings} filings and {n_questions} questions"
    if models:
        hours = download_gib * GIB / DOWNLOAD_BYTES_A_SECOND + estimate_s(study.profile, n_filings, n_questions)
        say(f"preflight: time: roughly {hours / 3600:.1f} hours for {asked} on one GPU")
    else:
        say(
            f"preflight: time: {asked} on this machine's processor, for which no time is estimated; nothing needs a GPU"
        )
    if problems:
        raise StudyError("; ".join(problems))


def is_reachable(model_id: str) -> bool:
    """Whether the hub answers for a model."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError

    try:
        return bool(HfApi(token=False).model_info(model_id, timeout=TIMEOUT_S))
    except (HTTPError, OSError):  # the second with HF_HUB_OFFLINE
        return False


def free_gib(place: Path) -> float:
    """Free space where a directory is, or will be made."""
    existing = next(folder for folder in (place, *place.absolute().parents) if folder.exists())
    return shutil.disk_usage(existing).free / GIB


def estimate_s(profile: dict, n_filings: int, n_questions: int) -> float:
    """Seconds of computing with the models that only the hub has, on a GPU, from parameters and tokens."""
    size = {role: record["parameters"] for role, record in hub_models(profile).items()}
    texts, scorer, hyde = n_filings * FILING_TOKENS, profile["page_scorer"], profile["hyde"]
    trained = 6 * scorer["epochs"] * n_questions * scorer["n_folds"] * scorer["max_tokens"]
    read = {
        "embedder": texts * (2 + 2 * scorer["n_folds"]) + trained,
        "splade": texts,
        "rerank": n_questions * profile["rerank"]["n"] * profile["rerank"]["window"] * 6,
        "generator": n_questions * ANSWERS * ANSWER_TOKENS,
    }
    written = n_questions * (hyde["n_passages"] + ANSWERS) * hyde["max_tokens"] / BATCH
    reading_s = sum(2 * size.get(role, 0) * tokens for role, tokens in read.items()) / GPU_FLOPS
    return reading_s + written * 2 * size.get("generator", 0) / GPU_BYTES_A_SECOND
