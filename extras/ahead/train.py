"""Training of the rankers that other datasets use."""

import json
from pathlib import Path

from lib.ahead import ranker
from lib.ahead.search import LEARNT_FROM, SAVED, learnt_from
from lib.ahead.sets import union_of
from lib.study import Study

SAVED_VARIANTS = {"kinds": ranker.WITH_KINDS, "plain": ranker.WHOLE}  # by file


def train(study: Study, target: Path = SAVED) -> dict:
    """What the last of SAVED_VARIANTS says of its training data; all are trained and saved, on all questions over a
    study's filings."""
    union, companies = union_of(study, False), set(study.filings["company"])
    sets = tuple(dict.fromkeys(union.questions["set"]))
    about = {
        "sets": union.questions["set"].value_counts().to_dict(),
        "n_questions": len(union.questions),
        "n_companies": int(union.questions["company"].nunique()),
        "spans": study.settings_of(("spans",))["spans"],
        "question_ids": union.questions["question_id"].tolist(),
    }
    target.mkdir(parents=True, exist_ok=True)
    (target / LEARNT_FROM).write_text(json.dumps(learnt_from(union.questions), indent=1) + "\n", encoding="utf-8")
    for name, variant in SAVED_VARIANTS.items():
        record = about | {"share": study.profile.ahead.share}
        booster = ranker.fit(study, union, companies, sets, variant)
        (target / f"{name}.txt").write_text(booster.model_to_string(), encoding="utf-8")
        (target / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return record
