"""``tmcore experiment``: the studies in `tmcore.experiments`, by the names of their modules."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files

from tmcore.commands.output import say
from tmcore.problems import listed


def experiments() -> dict[str, str]:
    """First docstring line of every module in `tmcore.experiments` that defines ``main``, by name."""
    found = {}
    for file in files("tmcore.experiments").iterdir():
        if file.name.endswith(".py"):
            module = ast.parse(file.read_text(encoding="utf-8"))
            if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module.body):
                text = ast.get_docstring(module) or ""
                found[file.name.removesuffix(".py")] = text.partition("\n")[0]
    return dict(sorted(found.items()))


def main(arguments: Sequence[str]) -> int:
    """Run the experiment named first with the words after it; list them all without a name."""
    found = experiments()
    if not arguments or arguments[0] in ("-h", "--help"):
        say("tmcore experiment NAME [--help | options of that experiment], where NAME is one of:")
        for name, about in found.items():
            say(f"{name}: {about}")
        return 0
    name, *rest = arguments
    if name not in found:
        raise ValueError(
            f"There is no experiment {name!r}; the experiments are {listed(list(found), len(found))}."
        )
    try:
        return import_module(f"tmcore.experiments.{name}").main(rest) or 0
    except ModuleNotFoundError as error:
        raise ValueError(
            f"The experiment {name} needs the package {error.name}; install tsetlin-dashboard[experiments]."
        ) from error
