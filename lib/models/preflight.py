"""Before a long run: what would be downloaded, whether disk and GPU suffice, and roughly how long it takes.

The time is an estimate from the models' sizes and the texts' lengths, good to a factor of about three: a forward pass
takes two operations per parameter and token (Kaplan et al., 2020, 2.1), writing is bound by reading the weights.
"""

import shutil
from pathlib import Path

from lib.models import hub
from lib.models.weights import locked
from lib.words import StudyError

GIB = 2**30
FILING_TOKENS = 110_000  # of a filing, about what FinanceBench's have
GPU_FLOPS = 4e13  # that a data-centre GPU reaches on such models in bfloat16
GPU_BYTES_A_SECOND = 6e11
DOWNLOAD_BYTES_A_SECOND = 3e7
ROOM = 1.3  # memory that a model needs, in sizes of its weights
NEEDS_GPU_GIB = 4.0  # a model of this size is not run on a processor
DISK_GIB_A_FILING = 0.02  # of vectors and runs
ANSWERS = 5  # answers per question that the chapters have written
ANSWER_TOKENS = 6_000
BATCH = 16


def needs_preflight(profile: dict) -> bool:
    """Whether a profile names a model that only the hub has."""
    return bool(hub_models(profile))


def hub_models(profile: dict) -> dict[str, dict]:
    """Role to lock record of each model that only the hub has."""
    named = {role: part.get("weights") for role, part in profile.items() if isinstance(part, dict)}
    records = {role: locked(name) for role, name in named.items() if name and not Path(name).is_dir()}
    return {role: record for role, record in records.items() if hub.is_snapshot(record)}


def preflight(profile: dict, n_filings: int, n_questions: int, artifacts: Path, say=print) -> None:
    """Report before the run what it needs.

    Args:
        profile: the settings.
        n_filings, n_questions: of the dataset.
        artifacts: where results will be written.
        say: receives the plan, line by line.

    Raises:
        StudyError: something is wrong; every problem is listed.
    """
    models = hub_models(profile)
    missing = {role: record for role, record in models.items() if hub.local_snapshot(record) is None}
    for role, record in models.items():
        place = "to be downloaded" if role in missing else "here"
        pickled = ", a PyTorch file that is read as tensors only" if hub.is_pickled(record) else ""
        say(f"preflight: {role}: {record['title']}, {record['gib']} GiB, {place}{pickled}")
    problems = []
    if missing and not hub.is_reachable(next(iter(missing.values()))["hub"]["id"]):
        names = ", ".join(record["title"] for record in missing.values())
        problems.append(f"the hub cannot be reached, and {names} would have to be downloaded")
    download_gib = sum(record["gib"] for record in missing.values())
    problems += _disk_problems(download_gib, n_filings, artifacts, say)
    problems += _gpu_problems(models, say)
    seconds = download_gib * GIB / DOWNLOAD_BYTES_A_SECOND + estimate_s(profile, n_filings, n_questions)
    said = f"{n_filings} filings and {n_questions} questions on one GPU"
    say(f"preflight: time: roughly {seconds / 3600:.1f} hours for {said}")
    if problems:
        raise StudyError("; ".join(problems))


def _disk_problems(download_gib: float, n_filings: int, artifacts: Path, say) -> list[str]:
    from huggingface_hub.constants import HF_HUB_CACHE

    wanted = {Path(HF_HUB_CACHE): download_gib, Path(artifacts): DISK_GIB_A_FILING * n_filings}
    disks: dict[int, list[Path]] = {}
    for place in wanted:
        disks.setdefault(_existing(place).stat().st_dev, []).append(place)
    problems = []
    for places in disks.values():
        needed, free = sum(wanted[place] for place in places), free_gib(places[0])
        names, where = " and ".join(place.name for place in places), " and ".join(map(str, places))
        say(f"preflight: disk: {needed:.1f} GiB in {names}, {free:.0f} GiB free")
        if free < needed:
            problems.append(f"the disk of {where} has {free:.1f} GiB free and {needed:.1f} are needed")
    return problems


def _gpu_problems(models: dict[str, dict], say) -> list[str]:
    largest = max(models.values(), key=lambda record: record["gib"], default={"gib": 0.0})
    if largest["gib"] < NEEDS_GPU_GIB:
        return []
    needed, title, found = ROOM * largest["gib"], largest["title"], gpu()
    if found is None:
        say(f"preflight: GPU: none; {title} needs {needed:.0f} GiB")
        return [f"there is no GPU, and {title} needs one of {needed:.0f} GiB; take PROFILE=default"]
    say(f"preflight: GPU: {found[0]} with {found[1]:.0f} GiB; {title} needs {needed:.0f}")
    is_small = found[1] < needed
    return [f"{found[0]} has {found[1]:.0f} GiB, and {title} needs {needed:.0f}"] if is_small else []


def free_gib(place: Path) -> float:
    """Free space where a directory is, or will be made."""
    return shutil.disk_usage(_existing(place)).free / GIB


def _existing(place: Path) -> Path:
    return next(folder for folder in (place, *place.absolute().parents) if folder.exists())


def gpu() -> tuple[str, float] | None:
    """The GPU's name and memory in GiB, or None where there is none."""
    import torch

    if not torch.cuda.is_available():
        return None
    about = torch.cuda.get_device_properties(0)
    return about.name, about.total_memory / GIB


def estimate_s(profile: dict, n_filings: int, n_questions: int) -> float:
    """Seconds of computing with the models that only the hub has, on a GPU, from parameters and tokens."""
    size = {role: record["parameters"] for role, record in hub_models(profile).items()}
    texts = n_filings * FILING_TOKENS
    n_folds, epochs = profile["page_scorer"]["n_folds"], profile["page_scorer"]["epochs"]
    pair_tokens = profile["rerank"]["window"]
    hyde = profile["hyde"]
    read = {
        "embedder": texts * (2 + 2 * n_folds)
        + 3 * epochs * n_questions * n_folds * 2 * profile["page_scorer"]["max_tokens"],
        "splade": texts,
        "rerank": n_questions * profile["rerank"]["n"] * pair_tokens * 6,
        "generator": n_questions * ANSWERS * ANSWER_TOKENS,
    }
    written = n_questions * (hyde["n_passages"] + ANSWERS) * hyde["max_tokens"] / BATCH
    reading_s = sum(2 * size.get(role, 0) * tokens for role, tokens in read.items()) / GPU_FLOPS
    return reading_s + written * 2 * size.get("generator", 0) / GPU_BYTES_A_SECOND
