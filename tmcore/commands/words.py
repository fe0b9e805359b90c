"""A command's words, read so that a mistake ends in one line."""

from __future__ import annotations

import argparse
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
