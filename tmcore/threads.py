"""How many threads `n_jobs` asks for."""

from __future__ import annotations

import numbers

from joblib import effective_n_jobs


def n_threads(n_jobs: int | None) -> int:
    """Threads to use, at least 1: None is one, negative numbers count down from all cores.

    Raises
    ------
    ValueError
        `n_jobs` is 0 or no whole number.
    """
    whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs):
        raise ValueError(
            f"n_jobs is {n_jobs!r}; use a whole number of threads from 1 on, -1 for all cores, or None for one."
        )
    return max(1, effective_n_jobs(n_jobs))
