"""The manifest: stages and those behind them, runs, folds and seeds."""

import json

from lib.book.manifest import stages_of, write_manifest


def test_it_has_runs_with_key_and_bytes_of_the_outputs_and_what_training_and_test_of_folds_share(study):
    record = {"fold": 0, "shared_companies": [], "train_filings": ["A"], "curve": [1]}
    study.write("folds/page_scorer-company.json", json.dumps([record, record | {"fold": 1}]))
    study.write("folds/ahead-13-0.json", json.dumps(record))
    made, told = write_manifest(study), {"fold": 0, "shared_companies": []}
    assert made["folds"] == {"ahead-13-0": [told], "page_scorer-company": [told, told | {"fold": 1}]}
    assert sorted(made["runs"]) == ["oracle-document/bm25", "oracle-page/bm25", "standard/bm25"]
    assert made["runs"]["standard/bm25"]["key"] == study.run_entry("bm25").key
    assert made["date"] == max(record["at"] for record in made["stages"])[:10]
    assert made["inputs"] == {"bm25": ""}
    assert {"significance.seed", "ahead.fold_seeds"} <= made["seeds"].keys()
    assert json.loads((study.outputs / "manifest.json").read_text()) == json.loads(json.dumps(made))


def test_the_stages_behind_a_stage_are_listed_though_nothing_asks_for_them_any_more(study):
    def compute(target):
        study.store.get("embeddings/windows", {"a": 1}, lambda folder: (folder / "x").write_text("x"))

    study.store.get("analysis/any", {"a": 1}, compute)
    log = study.outputs / "stages.jsonl"
    kept = [line for line in log.read_text().splitlines() if "embeddings/windows" not in line]
    log.write_text("\n".join(kept) + "\n")
    found = {record["stage"]: record for record in stages_of(study)}
    assert found["embeddings/windows"]["origin"] == "reused"
    assert f"embeddings/windows/{found['embeddings/windows']['key']}" in found["analysis/any"]["asked"]
    assert {"pages", "chunks", "digests/chunks", "runs/standard/bm25"} <= set(found)
