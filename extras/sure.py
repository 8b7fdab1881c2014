"""How sure a reading of tables is, fitted and measured: ``make sure`` writes ``lib/statements/sure.json``.

A reading is given as an answer where its chance is AIM or more, a threshold that is not chosen; what that gives is
measured on companies that the coefficients have not seen. The features were chosen by people who had seen these means.
"""

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lib.ahead.sets import SETS
from lib.answers.calculation import named_filings
from lib.folds import assign_folds
from lib.metrics.right import answer_right, figure
from lib.retrievers.tables import sheet_of
from lib.statements import sure
from lib.studies import open_study
from lib.study import Study

METHOD, N_FOLDS, AIM, STRENGTH = "ahead", 5, 0.9, 0.1
SEEDS = range(10)  # of folds


def readings(study: Study) -> pd.DataFrame:
    """The reading of each question whose answer is a figure, from the pages of METHOD: question_id, set, company,
    is_read, right, and the features."""
    questions, run = study.questions, study.run(METHOD)[["question_id", "doc_name", "page"]].drop_duplicates()
    places, rows = {name: part.iloc[:, 1:] for name, part in run.groupby("question_id")}, []
    for one in questions[list(map(bool, map(figure, questions["answer"], questions["question"])))].itertuples():
        named = named_filings(study)[one.question_id]
        near = [*places[one.question_id].itertuples(index=False, name=None)][: sure.BESIDE]
        read = sure.reading(one.question, named, [sheet_of(study, *place) for place in near])
        result, found = read.result, read.features
        is_right = bool(result.text) and answer_right(result.text, one.answer, one.question)
        about = {"question_id": one.question_id, "set": study.dataset.name, "company": one.company}
        rows.append(about | {"is_read": bool(result.text), "right": is_right} | found)
    return pd.DataFrame(rows)


def fit(part: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, float]:
    """Coefficients of the features, and the intercept, of readings; each set weighs the same."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH))
    weight = 1 / part.groupby("set")["right"].transform("size").to_numpy()
    weight *= len(part) / weight.sum()
    model.fit(part[names].to_numpy(float), part["right"], logisticregression__sample_weight=weight)
    scaler, (slope,) = model[0], model[1].coef_
    slope = slope / scaler.scale_
    return slope, float(model[1].intercept_[0] - slope @ scaler.mean_)


def out_of_fold(part: pd.DataFrame, names: Sequence[str], seed: int) -> np.ndarray:
    """The chance of each reading by a model of other companies."""
    folds, found = assign_folds(part["company"].tolist(), N_FOLDS, seed), np.zeros(len(part))
    for fold in np.unique(folds):
        slope, intercept = fit(part[folds != fold], names)
        found[folds == fold] = expit(part.loc[folds == fold, names].to_numpy(float) @ slope + intercept)
    return found


def write(studies: Sequence[Study]) -> dict:
    """Fit on all readings and write ``sure.json``; gives what was written."""
    every = pd.concat(map(readings, studies), ignore_index=True)
    names = [*every.columns.drop(["question_id", "set", "company", "is_read", "right"])]
    read = every[every["is_read"]].reset_index(drop=True)
    given = pd.DataFrame({seed: out_of_fold(read, names, seed) >= AIM for seed in SEEDS})
    slope, intercept = fit(read, names)
    rows = []
    for name, asked in every.groupby("set", sort=False):
        mine = read["set"] == name
        answered, right = given[mine].sum().mean(), given[mine & read["right"]].sum().mean()
        rows.append({"set": name, "n": len(asked), "n_companies": asked["company"].nunique(), "read": int(mine.sum())})
        shares = {"right_of_read": read[mine]["right"].mean(), "answered": answered / len(asked)}
        shares["right_of_answered"] = right / answered
        rows[-1] |= {share: round(float(value), 4) for share, value in shares.items()}
    coefficients = dict(zip(names, slope.round(4).tolist(), strict=True))
    found = {"least": AIM, "intercept": round(intercept, 4), "coefficients": coefficients}
    found |= {"method": METHOD, "n_draws": len(SEEDS), "measured": rows}
    sure.FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    write([open_study("financebench", questions=name) for name in ("", *SETS["financebench"])])
