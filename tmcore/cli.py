"""The command ``tmcore``: train, predict, rules, experiment, benchmark."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tmcore.commands import experiment, predict, rules, train
from tmcore.commands.output import note
from tmcore.commands.words import USER_ERROR, Parser, positive, whole
from tmcore.export import FORMATS
from tmcore.parameters import PARAMETERS, ParameterInfo, Parameters
from tmcore.table import ROLES

INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """The command's words and options."""
    made = Parser(prog="tmcore", description="Tsetlin machines for tables, with rules that can be read.")
    made.add_argument("--version", action="version", version=version("tsetlin-dashboard"))
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(commands)
    _add_predict(commands)
    _add_rules(commands)
    commands.add_parser("experiment", help="run a study of the papers' tables; without a name, list them")
    commands.add_parser("benchmark", help="measure speed; see tmcore benchmark --help")
    return made


def _add_train(commands: Any) -> None:
    made = commands.add_parser("train", help="train on a CSV and write the model", allow_abbrev=False)
    made.set_defaults(run=train.run)
    made.add_argument("data", type=Path, help="a CSV file, which may be gzip-compressed")
    made.add_argument("-o", "--output", type=Path, required=True, metavar="MODEL", help="file to write")
    _add_target(made)
    _add_reading(made)
    _add_roles(made)
    _add_course(made)
    settings = made.add_argument_group("settings")
    for info in PARAMETERS.values():
        if info.name != "random_state":
            _add_setting(settings, info)


def _add_target(made: argparse.ArgumentParser) -> None:
    """What to predict."""
    made.add_argument("--target", metavar="NAME", help="column to predict; guessed if not given")
    made.add_argument(
        "--task",
        choices=("classes", "numbers"),
        help="what the target holds; numbers, if not given, where it has more than 20 different ones",
    )
    made.add_argument(
        "--positive",
        metavar="LABEL",
        help="of two classes the one that rules and F1 speak for; the rarer if not given",
    )
    made.add_argument(
        "--read-as",
        type=_pair("LABEL=OTHER"),
        action="append",
        default=[],
        metavar="LABEL=OTHER",
        help="a label of the target that stands for another one, such as a typing error; may be repeated",
    )
    made.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="LABEL",
        help="a label of the target whose rows are left out; may be repeated",
    )


def _add_roles(made: argparse.ArgumentParser) -> None:
    """What columns hold."""
    made.add_argument(
        "--role",
        type=_role,
        action="append",
        default=[],
        metavar="NAME=ROLE",
        help=f"how to read a column: {', '.join(ROLES)}; may be repeated",
    )
    made.add_argument(
        "--order",
        type=_order,
        action="append",
        default=[],
        metavar="NAME=LOW,...,HIGH",
        help="the levels of an ordinal column, lowest first; may be repeated",
    )


def _add_course(made: argparse.ArgumentParser) -> None:
    """How training goes, besides the settings of the machine."""
    made.add_argument(
        "--test-share",
        type=_share,
        default=0.2,
        metavar="SHARE",
        help="rows held out to score on (default 0.2)",
    )
    made.add_argument(
        "--seed", type=whole, default=0, help=PARAMETERS["random_state"].meaning + " (default 0)"
    )
    made.add_argument(
        "--jobs", type=int, metavar="N", help="threads for three and more classes; -1 for all cores"
    )
    made.add_argument(
        "--batches",
        type=positive,
        metavar="ROWS",
        help="read and learn so many rows at a time, for files larger than memory; each epoch reads the file once",
    )
    made.add_argument(
        "--suggest", type=float, metavar="SECONDS", help="first search the training rows for better settings"
    )


def _add_setting(group: Any, info: ParameterInfo) -> None:
    """One option from what `PARAMETERS` says; `Parameters.check` judges its value."""
    default = getattr(Parameters(), info.name)
    option = f"--{info.name.replace('_', '-')}"
    meaning = info.meaning.replace("%", "%%")
    if isinstance(default, bool):
        group.add_argument(option, action="store_true", default=None, help=meaning)
        return
    about = f"{meaning} ({', '.join(info.choices)}; default {default})" if info.choices else None
    group.add_argument(
        option,
        type=_value,
        metavar="WORD" if info.choices or info.minimum is None else "N",
        help=about or f"{meaning} (default {str(default).lower()})",
    )


def _add_predict(commands: Any) -> None:
    made = commands.add_parser("predict", help="predict the rows of a CSV", allow_abbrev=False)
    made.set_defaults(run=predict.run)
    made.add_argument("model", type=Path, help="file that tmcore train wrote")
    made.add_argument("data", type=Path, help="a CSV file with the columns of training")
    made.add_argument("-o", "--output", type=Path, metavar="CSV", help="file to write; stdout if not given")
    made.add_argument(
        "--column",
        type=_pair("TRAINED=GIVEN"),
        action="append",
        default=[],
        metavar="TRAINED=GIVEN",
        help="read a column of training from a column of the CSV that is called otherwise; may be repeated",
    )
    _add_reading(made)


def _add_rules(commands: Any) -> None:
    made = commands.add_parser("rules", help="write a model's rules", allow_abbrev=False)
    made.set_defaults(run=rules.run)
    made.add_argument("model", type=Path, help="file that tmcore train wrote")
    made.add_argument("--format", choices=["text", *FORMATS], default="text", help="default text")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="file to write; stdout if not given")
    made.add_argument(
        "--prove",
        type=Path,
        metavar="CSV",
        help="first run the file on these rows and many generated ones; write it only if it says what the model says",
    )
    _add_reading(made)


def _add_reading(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--separator", type=_separator, metavar="MARK", help="what separates cells; found if not given"
    )
    made.add_argument("--encoding", metavar="NAME", help="how text is encoded; found if not given")
    made.add_argument("--decimal", metavar="MARK", help="decimal point or comma; found if not given")


def _role(text: str) -> tuple[str, str]:
    name, equals, role = text.rpartition("=")
    if not equals or role not in ROLES:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=ROLE with one of {', '.join(ROLES)}")
    return name, role


def _pair(form: str) -> Callable[[str], str]:
    """Reads a pair; where it is cut depends on the names of columns or labels, which may hold an equals sign too."""

    def read(text: str) -> str:
        if "=" not in text:
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return text

    return read


def _order(text: str) -> tuple[str, list[str]]:
    name, equals, levels = text.rpartition("=")
    if not equals or not levels:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=LOW,...,HIGH")
    return name, [level.strip() for level in levels.split(",")]


def _separator(text: str) -> str:
    return {"\\t": "\t", "tab": "\t"}.get(text, text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; use a number from 0 to below 1")
    return share


def _value(text: str) -> int | float | str:
    """A number if it is one, else the word, which `Parameters.check` judges."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _benchmark(arguments: Sequence[str]) -> int:
    from tmcore import benchmark  # it brings other learners along, which the other commands do not need

    return benchmark.main(list(arguments)) or 0


PASSED_ON = {"experiment": experiment.main, "benchmark": _benchmark}
"""Commands that read their own words."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``tmcore``; ``sys.argv`` when left out.

    Returns
    -------
    int
        The exit code: 0 when done, 1 when a file to be proven is not equal, 2 for a mistake in the words, the file
        or the settings, with one sentence on stderr, 130 when interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and words[0] in PASSED_ON:
            return PASSED_ON[words[0]](words[1:])
        options = parser().parse_args(words)
        return int(options.run(options))
    except KeyboardInterrupt:
        note("Stopped; nothing more was written.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of stdout, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError) as error:
        note(_sentence(error))
        return USER_ERROR


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "The data do not fit into memory; train with --batches, or use fewer rows or columns."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
    return str(error)


if __name__ == "__main__":
    raise SystemExit(main())
