"""Preference training in a paragraph: the pairs that a study gives, and what a run of the full-sized model takes."""

from extras.preference.needs import characters, estimate, n_parameters
from extras.preference.pairs import folds, pairs
from lib.methods import baselines
from lib.study import Study

VERSION = 1


def counts(study: Study) -> dict[str, int]:
    """What became of the questions (``pair``, ``right``, ``missing``), and the characters that an epoch of every fold
    reads (``n_characters``): a pair is trained on in all folds but one. Stored, and published without text.
    """
    params = {
        "chunks": study.digest("chunks"),
        "questions": study.digest("questions"),
        "settings": study.settings_of(("preference", "answers", "generator")),
        "runs": [study.run_digest(name, "standard") for name in baselines()],
    }

    def make() -> dict[str, int]:
        found = pairs(study)
        n_characters = characters(found.table) * (len(folds(study)) - 1)
        return {name: found.counts[name] for name in ("pair", "right", "missing")} | {
            "n_characters": n_characters
        }

    return study.store.value("preference/counts", params, make, VERSION, public=True)


def paragraph(study: Study, profile: dict) -> str:
    """How many pairs there are, and what training another profile's generator on as many takes.

    Args:
        study: gives the pairs, from what its own generator wrote.
        profile: names the model to train and how.

    Returns:
        Markdown.
    """
    found, settings, weights = counts(study), profile["preference"], profile["generator"]["weights"]
    size = n_parameters(weights)
    lora, full = (
        estimate(size, settings | {"method": method}, found["n_characters"]) for method in ("lora", "full")
    )
    n_questions = found["pair"] + found["right"] + found["missing"]
    return (
        f"Of {n_questions} questions {found['pair']} give a pair, {found['right']} were "
        f"answered right and {found['missing']} not at all. {weights} has {size / 1e9:.1f} billion parameters: "
        f"training adapters of rank {settings['rank']} takes a GPU of about {lora.memory_gib:.0f} GiB and, for "
        f"{settings['epochs']} epochs in {settings['n_folds']} folds, roughly {lora.hours:.1f} hours; training every "
        f"parameter takes {full.memory_gib:.0f} GiB and {full.hours:.1f} hours."
    )
