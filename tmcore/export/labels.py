"""Class labels as the plain values that other languages have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tmcore.ruleset import RuleSet

Label = bool | int | float | str


def plain_labels(rules: RuleSet) -> list[Label]:
    """Return the classes as bool, int, float or str; all as str where their types differ or are none of these."""
    values: list[Any] = [
        label.item() if isinstance(label, np.generic) else label for label in rules.classes.tolist()
    ]
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        return values
    return [str(value) for value in values]
