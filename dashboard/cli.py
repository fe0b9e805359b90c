"""The command ``tsetlin-dashboard``: start the local server and open the page."""

from __future__ import annotations

import argparse
import os
import socket
import sqlite3
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path

from dashboard.data_folder import FOLDER_VARIABLE, default_folder

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use a number from 1 to 65535.")
    return port


def is_free(port: int) -> bool:
    """Whether this machine lets a server listen on ``port`` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="tsetlin-dashboard",
        description="Open the Tsetlin dashboard in the browser. It is reachable from this machine only.",
    )
    made.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help=f"port on {ADDRESS} (default {DEFAULT_PORT})"
    )
    made.add_argument(
        "--data-dir",
        type=Path,
        metavar="FOLDER",
        default=default_folder(),
        help="folder for kept runs (default %(default)s)",
    )
    made.add_argument(
        "--no-store", action="store_true", help="keep no run on disk; a run ends with the server or its page"
    )
    made.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    made.add_argument("--version", action="version", version=version("tsetlin-dashboard"))
    return made


def streamlit_arguments(script: Path, port: int, no_browser: bool) -> list[str]:
    """The arguments of ``streamlit`` that serve ``script``; everything else is in ``.streamlit/config.toml``."""
    return [
        "run",
        str(script),
        f"--server.address={ADDRESS}",
        f"--server.port={port}",
        "--server.showEmailPrompt=false",
        f"--server.headless={'true' if no_browser else 'false'}",
    ]


def _keep_runs(options: argparse.Namespace) -> bool:
    """Tell the server where to keep runs, if anywhere; whether that works."""
    os.environ.pop(FOLDER_VARIABLE, None)
    if options.no_store:
        return True
    from dashboard.store import Store

    folder = options.data_dir.expanduser().absolute()
    try:
        Store(folder).prepare()
    except (OSError, sqlite3.Error) as error:
        print(
            f"Runs cannot be kept in {folder} ({error}). Choose another folder with --data-dir, or --no-store.",
            file=sys.stderr,
        )
        return False
    os.environ[FOLDER_VARIABLE] = str(folder)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the dashboard until interrupted.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the command's name; ``sys.argv`` when left out.

    Returns
    -------
    int
        The exit code: 0 after a normal end, 1 when the port is in use or runs cannot be kept.
    """
    options = parser().parse_args(arguments)
    if not is_free(options.port):
        print(f"Port {options.port} is in use. Choose another with --port.", file=sys.stderr)
        return 1
    if not _keep_runs(options):
        return 1
    print(f"The dashboard is at http://{ADDRESS}:{options.port} (Ctrl-C stops it).")
    from streamlit.web.cli import main as streamlit

    with as_file(files("dashboard") / "app.py") as script:
        try:
            streamlit(streamlit_arguments(script, options.port, options.no_browser), standalone_mode=False)
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
