"""What the manifest says of folds and seeds."""

import json

from lib.book.manifest import folds_of, seeds_of, write_manifest


def test_seeds_are_found_at_any_depth():
    settings = {"a": {"seed": 1, "b": {"fold_seeds": [2, 3]}}, "seeds": [4], "c": {"size": 5}}
    assert seeds_of(settings) == {"a.seed": 1, "a.b.fold_seeds": [2, 3], "seeds": [4]}


def test_folds_say_what_training_and_test_share(study):
    record = {"fold": 0, "shared_companies": [], "train_filings": ["A"], "curve": [1]}
    study.write("folds/page_scorer-company.json", json.dumps([record, record | {"fold": 1}]))
    study.write("folds/ahead-13-0.json", json.dumps(record))
    told = {"fold": 0, "shared_companies": []}
    assert folds_of(study) == {"ahead-13-0": [told], "page_scorer-company": [told, told | {"fold": 1}]}
    assert write_manifest(study)["folds"] == folds_of(study)
