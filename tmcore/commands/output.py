"""Lines for a terminal, and files for results."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from tmcore import files
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
        with _whole(path) as file:
            file.write(data)


@contextmanager
def text_file(path: Path | None) -> Iterator[IO[str]]:
    """A file to write CSV to, or stdout; a file is marked as UTF-8 for spreadsheets."""
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
    else:
        with _whole(path) as file:
            text = io.TextIOWrapper(file, "utf-8-sig", newline="")
            yield text
            text.flush()
            text.detach()


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """A file that is there whole or not at all; a device or a pipe is written to as it is."""
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    with files.replacing(path) as file:
        os.fchmod(file.fileno(), path.stat().st_mode if path.exists() else 0o666 & ~_mask())
        yield file


def _mask() -> int:
    """What the process leaves out of the permissions of new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
