"""Where kept runs live; apart from the store, so that the command line starts without loading it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER_VARIABLE = "TSETLIN_DATA_DIR"
"""Set by the command line; where it is not set, nothing is kept."""


def default_folder() -> Path:
    """The user's folder for application data, by the custom of the system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "tsetlin-dashboard"
