"""One place that sets how every kernel is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numba
from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that takes arrays and numbers only: without the GIL, and kept on disk between starts.

    Numba keeps compiled code beside the module, or in the user's cache folder. Where it may write to neither, a
    temporary folder is used, so that importing never fails and only the next start compiles again.
    """
    try:
        return njit(cache=True, nogil=True, boundscheck=False)(function)
    except RuntimeError:
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="tmcore-kernels-")  # type: ignore[attr-defined]
        return njit(cache=True, nogil=True, boundscheck=False)(function)


inlined = njit(inline="always")
"""For a rule that several kernels share: its statements become part of each."""
