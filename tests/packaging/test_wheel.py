"""The wheel: built, installed where the checkout cannot be seen, and started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SHIPPED = (
    ".streamlit/config.toml",
    "app.py",
    "views/data.py",
    "views/train.py",
    "views/rules.py",
    "rule_list/rule_list.js",
    "rule_list/rule_list.css",
    "live/live.js",
    "live/live.css",
    "pictures/data.svg",
    "tokens.css",
    "style.css",
)

PROBE = """
import json, sys
from importlib.resources import files
import dashboard, dashboard.cli, dashboard.jobs, sample_data, tmcore
shipped = [name for name in json.loads(sys.argv[1]) if files("dashboard").joinpath(name).is_file()]
samples = {sample.key: len(sample.read()) for sample in sample_data.samples()}
print(json.dumps([dashboard.__file__, tmcore.__file__, sample_data.__file__, shipped, samples]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment that holds the wheel; other packages come from the running one."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("tmcore", "dashboard", "sample_data"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    venv.create(folder / "environment", with_pip=False)
    python = folder / "environment" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True, timeout=120)
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    # Only the folder itself is added: .pth files in it are not read, so an editable install stays unseen.
    (packages / "running.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "HOME": str(home)}


def test_everything_is_inside_and_imported_from_there(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "python"), "-c", PROBE, json.dumps(SHIPPED)]
    done = subprocess.run(
        command, cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    *modules, shipped, samples = json.loads(done.stdout)
    environment = installed.parent.resolve()
    assert all(environment in Path(module).resolve().parents for module in modules), modules
    assert shipped == list(SHIPPED)
    in_checkout = {path.stem: path.stat().st_size for path in (ROOT / "sample_data").glob("*.csv")}
    assert sorted(samples.values()) == sorted(in_checkout.values())


@pytest.mark.parametrize("command", ["tsetlin-dashboard", "tmcore"])
def test_commands_tell_how_they_are_used(installed: Path, tmp_path: Path, command: str) -> None:
    done = subprocess.run(
        [str(installed / command), "--help"],
        cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {command}")


def test_installed_command_serves_the_page_with_its_own_settings(
    installed: Path, tmp_path: Path, serve_dashboard: Callable[[list[str], Path], AbstractContextManager[str]]
) -> None:
    with serve_dashboard([str(installed / "tsetlin-dashboard")], tmp_path) as address:
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert b"<title>" in answer.read()
        assert not (tmp_path / ".streamlit" / "credentials.toml").exists()
    assert "127.0.0.1" in (tmp_path / "server.log").read_text()
