"""Before a long run: what would be downloaded, whether disk and GPU suffice, and roughly how long it takes.

The time is an estimate from the models' sizes and the texts' lengths, good to a factor of about three: a forward pass
takes two operations a parameter and token (Kaplan et al., 2020, 2.1), writing is bound by reading the weights.
"""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from lib.models import hub, snapshots
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
ANSWERS = 5  # answers a question that the chapters have written
ANSWER_TOKENS = 6_000
BATCH = 16


@dataclass
class Plan:
    """What a run needs.

    Attributes:
        models: role, title, GiB and whether it is on this machine, of each model.
        problems: why the run cannot be made, one sentence each.
        lines: what to tell.
    """

    models: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def needs_preflight(profile: dict) -> bool:
    """Whether a profile names a model that only the hub has."""
    return any(snapshots.is_snapshot(record) for _, record in _hub_models(profile))


def preflight(profile: dict, n_filings: int, n_questions: int, artifacts: Path, say=print) -> Plan:
    """Look before the run.

    Args:
        profile: the settings.
        n_filings, n_questions: of the dataset.
        artifacts: where results will be written.
        say: told the plan.

    Returns:
        The plan.

    Raises:
        StudyError: something is wrong; every problem is told.
    """
    plan = Plan()
    for role, record in _hub_models(profile):
        here = snapshots.is_here(record)
        plan.models.append(
            {"role": role, "title": record["title"], "gib": record["gib"], "here": here, "record": record}
        )
        pickled = ", a PyTorch file that is read as tensors only" if snapshots.is_pickled(record) else ""
        plan.lines.append(
            f"{role}: {record['title']}, {record['gib']} GiB, {'here' if here else 'to be downloaded'}{pickled}"
        )
    missing = [model for model in plan.models if not model["here"]]
    if missing and not hub.is_reachable(missing[0]["record"]["hub"]["id"]):
        names = ", ".join(model["title"] for model in missing)
        plan.problems.append(f"the hub cannot be reached, and {names} would have to be downloaded")
    _check_disk(plan, sum(model["gib"] for model in missing), n_filings, artifacts)
    _check_gpu(plan)
    download_s = sum(model["gib"] for model in missing) * GIB / DOWNLOAD_BYTES_A_SECOND
    hours = (download_s + estimate_s(profile, plan.models, n_filings, n_questions)) / 3600
    plan.lines.append(
        f"time: roughly {hours:.1f} hours for {n_filings} filings and {n_questions} questions on one GPU"
    )
    for line in plan.lines:
        say(f"preflight: {line}")
    if plan.problems:
        raise StudyError("; ".join(plan.problems))
    return plan


def _hub_models(profile: dict) -> list[tuple[str, dict]]:
    """Role and lock record of each model that only the hub has."""
    named = [(role, part.get("weights")) for role, part in profile.items() if isinstance(part, dict)]
    records = [(role, locked(name)) for role, name in named if name and not Path(name).is_dir()]
    return [(role, record) for role, record in records if snapshots.is_snapshot(record)]


def _check_disk(plan: Plan, download_gib: float, n_filings: int, artifacts: Path) -> None:
    from huggingface_hub.constants import HF_HUB_CACHE

    wanted = {Path(HF_HUB_CACHE): download_gib, Path(artifacts): DISK_GIB_A_FILING * n_filings}
    disks: dict[int, list[Path]] = {}
    for place in wanted:
        disks.setdefault(_existing(place).stat().st_dev, []).append(place)
    for places in disks.values():
        needed, free = sum(wanted[place] for place in places), free_gib(places[0])
        names = " and ".join(place.name for place in places)
        plan.lines.append(f"disk: {needed:.1f} GiB in {names}, {free:.0f} GiB free")
        if free < needed:
            where = " and ".join(map(str, places))
            plan.problems.append(f"the disk of {where} has {free:.1f} GiB free and {needed:.1f} are needed")


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


def _check_gpu(plan: Plan) -> None:
    largest = max(plan.models, key=lambda model: model["gib"], default=None)
    if largest is None or largest["gib"] < NEEDS_GPU_GIB:
        return
    needed, found = ROOM * largest["gib"], gpu()
    if found is None:
        plan.lines.append(f"GPU: none; {largest['title']} needs {needed:.0f} GiB")
        plan.problems.append(
            f"there is no GPU, and {largest['title']} needs one of {needed:.0f} GiB; take PROFILE=default"
        )
        return
    plan.lines.append(f"GPU: {found[0]} with {found[1]:.0f} GiB; {largest['title']} needs {needed:.0f}")
    if found[1] < needed:
        plan.problems.append(f"{found[0]} has {found[1]:.0f} GiB, and {largest['title']} needs {needed:.0f}")


def estimate_s(profile: dict, models: list[dict], n_filings: int, n_questions: int) -> float:
    """Seconds of computing on a GPU, from parameters and tokens."""
    size = {model["role"]: model["record"]["parameters"] for model in models}
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
