"""What a job measured, and the table of all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One measured quantity.

    Attributes
    ----------
    job, quantity : str
    value : float
        Ours, or the ratio of ours to theirs.
    bar : str
        What it should reach, for example "<= 0.333".
    note : str
        Both numbers behind a ratio, and settings.
    """

    job: str
    quantity: str
    value: float
    bar: str = ""
    note: str = ""

    @property
    def reached(self) -> str:
        """ "yes", "no", or "" where there is no bar."""
        if not self.bar:
            return ""
        sign, limit = self.bar.split()
        return "yes" if (self.value <= float(limit) if sign == "<=" else self.value >= float(limit)) else "no"


def as_markdown(results: list[Result]) -> str:
    """The results as a Markdown table."""
    lines = ["| job | quantity | measured | bar | reached | behind it |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r.job} | {r.quantity} | {r.value:.4g} | {r.bar} | {r.reached} | {r.note} |" for r in results
    ]
    return "\n".join(lines)
