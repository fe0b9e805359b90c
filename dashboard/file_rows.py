"""Which rows of the visitor's file rows are, as a spreadsheet numbers them."""

from __future__ import annotations

import pandas as pd

from tmcore.table_files import ROW


def file_rows(index: pd.Index) -> list[str]:
    """The numbers in an index that comes from a table; empty texts for one of a run without its table."""
    return [str(number) for number in index] if index.name == ROW else [""] * len(index)
