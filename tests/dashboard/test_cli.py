"""The command line: what it hands to Streamlit, and what it refuses."""

from __future__ import annotations

import socket
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from dashboard import cli
from tmcore.table import MAX_BYTES


def test_binds_to_this_machine_only() -> None:
    arguments = cli.streamlit_arguments(Path("app.py"), 9000, no_browser=True)
    assert arguments[:2] == ["run", "app.py"]
    assert "--server.address=127.0.0.1" in arguments
    assert "--server.port=9000" in arguments
    assert "--server.headless=true" in arguments


@pytest.mark.parametrize("port", ["0", "70000", "http"])
def test_bad_port_is_one_sentence(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["--port", port])
    assert "use a number from 1 to 65535" in capsys.readouterr().err


def test_port_in_use_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert cli.main(["--port", str(port)]) == 1
    assert capsys.readouterr().err == f"Port {port} is in use. Choose another with --port.\n"


def test_public_options_parse() -> None:
    options = cli.parser().parse_args(["--port", "8600", "--data-dir", "kept", "--no-store"])
    assert (options.port, options.data_dir, options.no_store) == (8600, Path("kept"), True)


def test_shipped_config_is_safe_and_agrees_with_the_reader() -> None:
    config = tomllib.loads(
        files("dashboard").joinpath(".streamlit", "config.toml").read_text(encoding="utf-8")
    )
    server = config["server"]
    assert server["address"] == "127.0.0.1"
    assert server["enableCORS"] is True
    assert server["enableXsrfProtection"] is True
    assert server["maxUploadSize"] * 2**20 == MAX_BYTES
    assert config["client"]["showErrorDetails"] == "none"
    assert config["browser"]["gatherUsageStats"] is False
