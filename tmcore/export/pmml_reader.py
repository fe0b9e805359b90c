"""Scores a PMML file, to check what was written. Written from the PMML 4.4 definition, not from the writer.

It knows the parts of PMML that rules need: fields, DerivedFields with the functions in `_FUNCTIONS`, and a
RegressionModel for classification or regression. Columns are evaluated as wholes; a value is an array with a
mask of what is missing, both of shape (n_rows,), or () where it is the same in every row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Element = ElementTree.Element
Bools = NDArray[np.bool_]
NEVER = np.array(False)


@dataclass(frozen=True)
class Value:
    """A field or expression in every row; where `missing`, the entry of `cells` means nothing."""

    cells: NDArray[Any]
    missing: Bools


@dataclass(frozen=True)
class Scored:
    """What a file says of each row: the class as text or the number, and the outputs that are numbers, by name."""

    predicted: NDArray[Any]
    outputs: Mapping[str, NDArray[np.float64]]


def score(data: bytes, frame: pd.DataFrame) -> Scored:
    """Score rows; numeric fields hold floats (NaN is missing), the others texts (None is missing).

    Raises
    ------
    ValueError
        The file uses a part of PMML that is not known here.
    """
    root = ElementTree.fromstring(data)
    space = root.tag.removesuffix("PMML")
    model = root.find(f"{space}RegressionModel")
    if model is None or model.get("functionName") not in ("classification", "regression"):
        raise ValueError("The file holds no RegressionModel for classification or regression.")
    return _Scorer(root, model, space, frame).run()


class _Scorer:
    def __init__(self, root: Element, model: Element, space: str, frame: pd.DataFrame) -> None:
        self.space, self.model, self.n_rows = space, model, len(frame)
        self.fields: dict[str, Value] = {}
        fields = {str(field.get("name")): field for field in root.iter(f"{space}DataField")}
        for mined in model.iter(f"{space}MiningField"):
            name = str(mined.get("name"))
            if mined.get("usageType", "active") == "active":
                self.fields[name] = _input(frame[name], str(fields[name].get("dataType")))

    def run(self) -> Scored:
        for derived in self.model.iter(f"{self.space}DerivedField"):
            self.fields[str(derived.get("name"))] = self._value(derived[0])
        outputs = {
            str(field.get("name")): np.broadcast_to(_numbers(self._value(field[0])), self.n_rows)
            for field in self.model.iter(f"{self.space}OutputField")
            if field.get("feature") == "transformedValue"
        }
        return Scored(self._predict(), outputs)

    def _predict(self) -> NDArray[Any]:
        """The number, or the class of the largest probability; of equal ones, that of the first table."""
        tables = self.model.findall(f"{self.space}RegressionTable")
        if self.model.get("functionName") == "regression":
            if len(tables) != 1 or self.model.get("normalizationMethod", "none") != "none":
                raise ValueError("A regression with many tables or a normalization is not known here.")
            return self._sum(tables[0])
        labels = np.array([table.get("targetCategory") for table in tables], dtype=object)
        sums = np.column_stack([self._sum(table) for table in tables])
        method = self.model.get("normalizationMethod", "none")
        if method == "logit" and len(tables) == 2:
            with np.errstate(over="ignore"):
                first = 1 / (1 + np.exp(-sums[:, 0]))
            chances = np.column_stack([first, 1 - first])
        elif method == "softmax":
            chances = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True)
        elif len(tables) == 1:
            chances = np.ones((self.n_rows, 1))
        else:
            raise ValueError(f"The normalization {method!r} of {len(tables)} tables is not known here.")
        return labels[np.argmax(chances, axis=1)]

    def _sum(self, table: Element) -> NDArray[np.float64]:
        total = np.full(self.n_rows, float(table.get("intercept", "0")))
        for predictor in table:
            if predictor.tag != f"{self.space}NumericPredictor":
                raise ValueError(f"A RegressionTable holds {predictor.tag}, which is not known here.")
            numbers = _numbers(self.fields[str(predictor.get("name"))])
            total += float(str(predictor.get("coefficient"))) * numbers ** int(predictor.get("exponent", "1"))
        return total

    def _value(self, expression: Element) -> Value:
        tag = expression.tag.removeprefix(self.space)
        if tag == "FieldRef":
            return self.fields[str(expression.get("field"))]
        if tag == "Constant":
            return _constant(expression)
        if tag == "Apply":
            return self._apply(expression)
        raise ValueError(f"The expression {tag!r} is not known here.")

    def _apply(self, expression: Element) -> Value:
        arguments = [self._value(argument) for argument in expression]
        function = str(expression.get("function"))
        if function in ("isMissing", "isNotMissing"):
            answer = arguments[0].missing if function == "isMissing" else ~arguments[0].missing
            return Value(answer, NEVER)
        if function == "if":
            asked, yes, no = arguments
            chosen = np.where(asked.cells.astype(bool), yes.cells, no.cells)
            return Value(chosen, asked.missing | np.where(asked.cells, yes.missing, no.missing))
        if function not in _FUNCTIONS:
            raise ValueError(f"The function {function!r} is not known here.")
        values = _FUNCTIONS[function]([argument.cells for argument in arguments])
        missing = reduce(np.logical_or, [argument.missing for argument in arguments])
        instead = expression.get("mapMissingTo")
        if instead is None:
            return Value(values, missing)
        filled: Any = instead == "true" if values.dtype == bool else float(instead)
        return Value(np.where(missing, filled, values), NEVER)


def _any_equal(arguments: Sequence[NDArray[Any]]) -> Bools:
    first, *others = arguments
    return reduce(np.logical_or, [first == other for other in others])


_FUNCTIONS: dict[str, Callable[[Sequence[NDArray[Any]]], NDArray[Any]]] = {
    "equal": lambda a: a[0] == a[1],
    "greaterThan": lambda a: a[0] > a[1],
    "lessOrEqual": lambda a: a[0] <= a[1],
    "isIn": _any_equal,
    "isNotIn": lambda a: ~_any_equal(a),
    "and": lambda a: reduce(np.logical_and, a),
    "*": lambda a: a[0] * a[1],
    "sum": lambda a: reduce(np.add, a),
}


def _input(values: pd.Series, data_type: str) -> Value:
    if data_type == "double":
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return Value(numbers, np.isnan(numbers))
    missing = values.isna().to_numpy()
    return Value(np.where(missing, "", values.to_numpy(dtype=object)), missing)


def _constant(expression: Element) -> Value:
    text = expression.text or ""
    if expression.get("dataType") == "double":
        return Value(np.array(float(text)), NEVER)
    return Value(np.array(text, dtype=object), NEVER)


def _numbers(value: Value) -> NDArray[np.float64]:
    return np.where(value.missing, np.nan, value.cells.astype(np.float64))
