"""Columns to ranks, and ranks back to names, values and printed cuts.

A numeric column becomes one feature whose rank is the number of its cuts below the value; an ordinal column
one feature with a rank per level; a boolean column one 0/1 feature; a nominal column one 0/1 feature per
category. Missing values get a code of their own, the largest of the dtype.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.columns import Role, as_floats, category_codes, category_text, role_of
from tmcore.cuts import choose_levels, shortest_decimals
from tmcore.units import split_unit

Kind = Literal["numeric", "ordinal", "boolean", "category"]
Codes = NDArray[np.uint8] | NDArray[np.uint16]

MISSING: dict[np.dtype[Any], int] = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65535}
"""The code of a missing value for each dtype of ranks; ``MISSING[codes.dtype]``."""


@dataclass(frozen=True)
class Feature:
    """One feature of the machine.

    Attributes
    ----------
    index : position among the encoder's features
    column : name of the column it was made from
    kind : what it was made from
    category : the category that a "category" feature stands for, else None
    cuts : numeric only, ascending; rank r means ``cuts[r - 1] < x <= cuts[r]``
    n_ranks : number of ranks, at least 1
    has_gaps : whether the column had missing values in training
    labels : ordinal: level names in order; boolean: the names of 0 and 1; else empty
    """

    index: int
    column: str
    kind: Kind
    category: str | None
    cuts: tuple[float, ...]
    n_ranks: int
    has_gaps: bool
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """One column of the training data.

    Attributes
    ----------
    name, role : as in the table
    label, unit : the name without its unit, and the unit (numeric columns only; None where the name has none)
    categories : names of categories or levels in the order used, empty for numeric columns
    features : indices of the features made from it
    minimum, maximum : smallest and largest training value of a numeric column, None without any
    n_missing : missing cells in training
    """

    name: str
    role: Role
    label: str
    unit: str | None
    categories: tuple[str, ...]
    features: tuple[int, ...]
    minimum: float | None
    maximum: float | None
    n_missing: int


class Encoder:
    """Learns levels, cuts and categories from training data and turns data into ranks.

    Parameters
    ----------
    max_levels : int in 2..65535 or None
        Most levels a numeric column keeps, picked by quantiles. Up to 255 a rank is one byte; None means
        65535.
    shorten_cuts : bool
        Print and compute with the shortest decimal between two levels; False keeps the lower level itself, as
        in the SSL paper, section 3.

    Attributes
    ----------
    features, columns : tuples of Feature and Column, after `fit`
    n_ranks : int64 array, shape (n_features,)
    has_gaps : bool array, shape (n_features,)
    """

    features: tuple[Feature, ...]
    columns: tuple[Column, ...]
    n_ranks: NDArray[np.int64]
    has_gaps: NDArray[np.bool_]

    def __init__(self, max_levels: int | None = 255, shorten_cuts: bool = True) -> None:
        if max_levels is not None and not 2 <= max_levels <= 65535:
            raise ValueError(f"max_levels must be None or between 2 and 65535, not {max_levels}.")
        self.max_levels = max_levels
        self.shorten_cuts = shorten_cuts
        self._by_name = False

    @property
    def by_name(self) -> bool:
        """Whether it was fitted on a DataFrame, whose columns are found by name."""
        return self._by_name

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the ranks: uint8 when every column keeps at most 255 levels, else uint16."""
        small = self.max_levels is not None and self.max_levels <= 255
        return np.dtype(np.uint8) if small else np.dtype(np.uint16)

    def fit(self, data: pd.DataFrame | NDArray[Any]) -> Encoder:
        """Learn columns, levels and cuts.

        Parameters
        ----------
        data : DataFrame or array, shape (n_rows, n_columns)
            Roles come from dtypes: bool, two categories or two distinct strings are boolean; ordered
            categories ordinal; other strings, objects and categories nominal; numbers numeric.

        Raises
        ------
        ValueError
            No rows or columns, two columns of one name, dates, complex or infinite numbers, too many ordinal
            levels.
        """
        frame, self._by_name = _as_frame(data)
        if frame.shape[1] == 0 or frame.shape[0] == 0:
            what = "column" if frame.shape[1] == 0 else "row"
            raise ValueError(f"The data (shape {frame.shape}) have no {what}s; at least one is needed.")
        levels: list[NDArray[np.float64]] = []
        drafts: list[Column] = []
        for position in range(frame.shape[1]):
            drafts.append(self._draft(str(frame.columns[position]), frame.iloc[:, position], levels))
        self._finish(drafts, self._cuts_between(levels))
        return self

    def transform(self, data: pd.DataFrame | NDArray[Any]) -> Codes:
        """Ranks of every row.

        Parameters
        ----------
        data : DataFrame or array
            A DataFrame's columns are found by name (others are ignored) if the encoder was fitted on a
            DataFrame, else by position.

        Returns
        -------
        C-contiguous uint8 or uint16 array, shape (n_rows, n_features)
            Ranks 0..n_ranks-1, and the largest number of the dtype where the value is missing. An unseen
            category is 0 in every feature of a nominal column and missing in a boolean or ordinal one.

        Raises
        ------
        ValueError
            A column is missing, the width is wrong, or a numeric column holds a text or an infinity.
        """
        if not hasattr(self, "columns"):
            raise ValueError("This encoder has not been fitted; call fit first.")
        frame, named = _as_frame(data)
        positions = self._positions(frame, by_name=named and self._by_name)
        codes = np.empty((len(self.features), len(frame)), dtype=self.dtype)
        for column, position in zip(self.columns, positions, strict=True):
            self._write(column, frame.iloc[:, position], codes)
        return np.ascontiguousarray(codes.T)

    def fit_transform(self, data: pd.DataFrame | NDArray[Any]) -> Codes:
        """`fit`, then `transform` of the same data."""
        return self.fit(data).transform(data)

    def _draft(self, name: str, values: pd.Series, levels: list[NDArray[np.float64]]) -> Column:
        """A column without its features; a numeric one appends its levels to `levels`."""
        role = role_of(values, name)
        label, unit = split_unit(name) if role == "numeric" else (name, None)
        if role == "numeric":
            numbers = as_floats(values, name)
            known = numbers[~np.isnan(numbers)]
            chosen = choose_levels(known, self.max_levels or 65535)
            levels.append(chosen)
            lowest, highest = (float(chosen[0]), float(chosen[-1])) if len(chosen) else (None, None)
            n_missing = len(numbers) - len(known)
            return Column(name, role, label, unit, (), (), lowest, highest, n_missing)
        codes, found = category_codes(values)
        n_missing = int((codes < 0).sum())
        if isinstance(values.dtype, pd.CategoricalDtype):
            declared = dict.fromkeys(map(category_text, values.cat.categories))
            categories = tuple(text for text in declared if role != "nominal" or text in found)
        elif pd.api.types.is_bool_dtype(values.dtype):
            categories = ("False", "True")
        else:
            categories = tuple(sorted(found))
        most = MISSING[self.dtype]
        if role == "ordinal" and len(categories) > most:
            raise ValueError(f"Column '{name}' has {len(categories)} ordered levels; the most is {most}.")
        return Column(name, role, label, unit, categories, (), None, None, n_missing)

    def _cuts_between(self, levels: Sequence[NDArray[np.float64]]) -> list[tuple[float, ...]]:
        """The cuts of every numeric column, all computed in one go."""
        none = np.empty(0)
        low = np.concatenate([none, *(u[:-1] for u in levels)])
        high = np.concatenate([none, *(u[1:] for u in levels)])
        cuts = shortest_decimals(low, high) if self.shorten_cuts else low
        ends = np.cumsum([max(len(u) - 1, 0) for u in levels], dtype=np.intp)
        return [tuple(part.tolist()) for part in np.split(cuts, ends[:-1])] if levels else []

    def _finish(self, drafts: Sequence[Column], cuts: Sequence[tuple[float, ...]]) -> None:
        """Number the features and fill the columns' `features`."""
        features: list[Feature] = []
        columns: list[Column] = []
        remaining = iter(cuts)
        for draft in drafts:
            first, gaps = len(features), draft.n_missing > 0
            if draft.role == "numeric":
                own = next(remaining)
                features.append(Feature(first, draft.name, "numeric", None, own, len(own) + 1, gaps, ()))
            elif draft.role == "nominal":
                features += [
                    Feature(first + k, draft.name, "category", category, (), 2, gaps, ())
                    for k, category in enumerate(draft.categories)
                ]
            else:
                kind: Kind = "ordinal" if draft.role == "ordinal" else "boolean"
                n_ranks = max(len(draft.categories), 1)
                features.append(Feature(first, draft.name, kind, None, (), n_ranks, gaps, draft.categories))
            indices = tuple(range(first, len(features)))
            columns.append(Column(**{**vars(draft), "features": indices}))
        self._set(tuple(features), tuple(columns))

    def _set(self, features: tuple[Feature, ...], columns: tuple[Column, ...]) -> None:
        self.features, self.columns = features, columns
        self.n_ranks = np.array([f.n_ranks for f in features], dtype=np.int64)
        self.has_gaps = np.array([f.has_gaps for f in features], dtype=bool)
        self._cut_arrays = {f.index: np.array(f.cuts) for f in features if f.kind == "numeric"}

    def _positions(self, frame: pd.DataFrame, by_name: bool) -> list[int]:
        """Where each fitted column stands in `frame`."""
        if not by_name:
            if frame.shape[1] != len(self.columns):
                raise ValueError(
                    f"The data have {frame.shape[1]} columns; the model was trained on {len(self.columns)}."
                )
            return list(range(len(self.columns)))
        where = {str(name): position for position, name in enumerate(frame.columns)}
        absent = [column.name for column in self.columns if column.name not in where]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise ValueError(f"Column '{absent[0]}'{more} is missing; the model was trained with it.")
        return [where[column.name] for column in self.columns]

    def _write(self, column: Column, values: pd.Series, codes: Codes) -> None:
        """Fill the rows of `codes` (features x rows) that belong to `column`."""
        missing = MISSING[self.dtype]
        if column.role == "numeric":
            numbers = as_floats(values, column.name)
            index = column.features[0]
            ranks = np.searchsorted(self._cut_arrays[index], numbers, side="left")
            codes[index] = ranks
            codes[index, np.isnan(numbers)] = missing
            return
        found, texts = category_codes(values)
        place = {category: k for k, category in enumerate(column.categories)}
        # One extra entry at the end, which the code -1 of missing cells picks.
        lookup = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int64)
        ranks = lookup[found]
        if column.role == "nominal":
            for k, index in enumerate(column.features):
                codes[index] = ranks == k
                codes[index, found < 0] = missing
        else:
            codes[column.features[0]] = np.where(ranks < 0, missing, ranks)

    def to_dict(self) -> dict[str, Any]:
        """Everything `transform` needs as numbers, texts, lists and dicts; JSON keeps the floats exactly."""
        return {
            "max_levels": self.max_levels,
            "shorten_cuts": self.shorten_cuts,
            "by_name": self._by_name,
            "columns": [
                asdict(column) | {"features": [_feature_dict(self.features[i]) for i in column.features]}
                for column in self.columns
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Encoder:
        """The inverse of `to_dict`.

        Raises
        ------
        ValueError
            `data` is not what `to_dict` makes, for example a damaged file.
        """
        try:
            encoder = cls(data["max_levels"], bool(data["shorten_cuts"]))
            encoder._by_name = bool(data["by_name"])
            drafts, cuts = [], []
            for item in data["columns"]:
                draft = Column(**{**item, "categories": tuple(map(str, item["categories"])), "features": ()})
                drafts.append(draft)
                if draft.role == "numeric":
                    cuts.append(tuple(float(cut) for cut in item["features"][0]["cuts"]))
                elif draft.role not in ("nominal", "ordinal", "boolean"):
                    raise ValueError(f"unknown role {draft.role!r}")
            if any(not np.all(np.diff(own) > 0) or not np.all(np.isfinite(own)) for own in cuts):
                raise ValueError("cuts must be finite and ascending")
            encoder._finish(drafts, cuts)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"This is not a saved encoder, or it is damaged ({error}).") from error
        return encoder


def _feature_dict(feature: Feature) -> dict[str, Any]:
    return {"cuts": list(feature.cuts)} if feature.kind == "numeric" else {"category": feature.category}


def _as_frame(data: pd.DataFrame | NDArray[Any]) -> tuple[pd.DataFrame, bool]:
    """The data as a DataFrame with unique column names, and whether the names are the data's own."""
    if isinstance(data, pd.DataFrame):
        repeated = data.columns[data.columns.map(str).duplicated()]
        if len(repeated):
            raise ValueError(f"Two columns are called '{repeated[0]}'; every column needs a name of its own.")
        return data, True
    array = np.asarray(data)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D data (rows x columns), got {array.ndim}D data.")
    return pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])]), False
