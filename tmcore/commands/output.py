"""Lines for a terminal, and files for results."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tmcore.conditions import visible


def say(line: str) -> None:
    """Print one line; names from a file cannot move the cursor or colour the terminal."""
    print(visible(line), flush=True)


def note(line: str) -> None:
    """Print one line to stderr."""
    print(visible(line), file=sys.stderr, flush=True)


def check_output(path: Path | None) -> None:
    """Refuse a place that cannot be written to before any work is done.

    Raises
    ------
    ValueError
        The folder does not exist or cannot be written to, or `path` is a folder.
    """
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {path.parent}; make it first or write elsewhere.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"The folder {path.parent} cannot be written to; write elsewhere.")


def write_bytes(data: bytes, path: Path | None) -> None:
    """Write to a file, or to stdout without one."""
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        path.write_bytes(data)


@contextmanager
def text_file(path: Path | None) -> Iterator[IO[str]]:
    """A file to write CSV to, or stdout; a file is marked as UTF-8 for spreadsheets."""
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            yield file
