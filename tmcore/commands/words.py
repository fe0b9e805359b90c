"""A command's words, read so that a mistake ends in one line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from tmcore.commands.output import note

USER_ERROR = 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without a page of usage."""

    def error(self, message: str) -> NoReturn:
        note(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")
        raise SystemExit(USER_ERROR)


def whole(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def positive(text: str) -> int:
    """A whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def cut(pair: str, known: Sequence[str], known_behind: Sequence[str], option: str) -> tuple[str, str]:
    """A pair "ONE=OTHER" as its two names, without blanks around them.

    A name may hold "=" itself: where there is a choice, a pair is cut so that both of its names are known, else so that
    the first is, or the other.

    Raises
    ------
    ValueError
        Both are known with one cut and with another.
    """
    cuts = [(pair[:k].strip(), pair[k + 1 :].strip()) for k, sign in enumerate(pair) if sign == "="]
    marks = [2 * (one in known) + (other in known_behind) for one, other in cuts]
    if marks.count(3) > 1:
        raise ValueError(f"{option} {pair} means two things; write one of these names otherwise in the file.")
    return cuts[marks.index(max(marks))]
