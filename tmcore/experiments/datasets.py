"""The five data sets of the SSL paper's section 5, coded as the paper codes them: categories as integers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

NAMES = ("heart", "breast", "liver", "balance", "bankruptcy")

_FILES = {
    "heart": "statlog_heart.csv",
    "breast": "breast_cancer_ljubljana.csv",
    "liver": "liver_disorders_bupa.csv",
    "balance": "balance_scale.csv",
    "bankruptcy": "qualitative_bankruptcy.csv",
}


def data_folder() -> Path:
    """The folder named by the environment variable TMCORE_DATA.

    Raises
    ------
    ValueError
        The variable is not set or names no folder.
    """
    folder = Path(os.environ.get("TMCORE_DATA", ""))
    if not os.environ.get("TMCORE_DATA") or not folder.is_dir():
        raise ValueError(
            "These data are not part of the package; set TMCORE_DATA to the folder that holds their CSVs."
        )
    return folder


def load(name: str, one_hot: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows and labels (0 or 1) of one data set.

    Parameters
    ----------
    name : one of NAMES
    one_hot : bool
        Give nominal columns as categories instead of integer codes.
    """
    table = pd.read_csv(data_folder() / _FILES[name])
    if name == "heart":
        nominal, y = ["sex", "chest_pain", "fbs", "rest_ecg", "exang", "thal"], table.pop("class") == 2
    elif name == "breast":
        y = table.pop("class") == "recurrence-events"
        nominal = ["menopause", "node-caps", "breast", "breast-quad", "irradiat"]
        for column in ("age", "tumor-size", "inv-nodes"):
            table[column] = table[column].str.extract(r"(\d+)")[0].astype(float)
    elif name == "liver":
        nominal, y = [], table.pop("drinks") >= 3
        table = table.drop(columns="selector")
    elif name == "balance":
        table = table[table["class"] != "B"].reset_index(drop=True)
        nominal, y = [], table.pop("class") == "L"
    else:
        nominal, y = [], table.pop("class") == "NB"
        table = table.replace({"A": 0, "N": 1, "P": 2}).astype(float)
    for column in nominal:
        table[column] = table[column].astype("category") if one_hot else _codes(table[column])
    return table, y.to_numpy(int)


def _codes(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    known = column.where(column != "?")
    return known.astype("category").cat.codes.where(known.notna(), np.nan).astype(float)


def split(n_rows: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of one trial: `default_rng(trial).permutation`, first 80 % to train."""
    order = np.random.default_rng(trial).permutation(n_rows)
    n_train = int(0.8 * n_rows)
    return order[:n_train], order[n_train:]
