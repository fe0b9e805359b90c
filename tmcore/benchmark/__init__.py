"""This core beside the peers found installed: same job, same run, one core, alternating; ratios are ours to theirs."""

from __future__ import annotations

from tmcore.benchmark.command import main

__all__ = ["main"]
