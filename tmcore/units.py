"""Units that column headers carry, as in ``age (years)``, ``resting BP [mm Hg]`` or ``bill_length_mm``."""

from __future__ import annotations

import re

# How a unit is written in a header (lower case, spaces and underscores as "_") and how it is shown.
_SUFFIXES = {
    "mm": "mm", "cm": "cm", "km": "km", "inch": "in", "inches": "in", "ft": "ft", "miles": "miles",
    "g": "g", "mg": "mg", "kg": "kg", "lb": "lb", "lbs": "lb",
    "ml": "ml", "litres": "l", "liters": "l",
    "mg_dl": "mg/dl", "mmol_l": "mmol/l", "g_dl": "g/dl", "kg_m2": "kg/m²", "mm_hg": "mm Hg", "mmhg": "mm Hg",
    "years": "years", "yrs": "years", "months": "months", "weeks": "weeks", "days": "days",
    "hours": "hours", "hrs": "hours", "minutes": "minutes", "mins": "minutes",
    "seconds": "seconds", "secs": "seconds",
    "ms": "ms", "bpm": "bpm", "hz": "Hz", "khz": "kHz", "mhz": "MHz",
    "kmh": "km/h", "km_h": "km/h", "mph": "mph", "celsius": "°C", "fahrenheit": "°F",
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "percent": "%", "pct": "%",
    "kwh": "kWh", "watts": "W", "volts": "V", "hpa": "hPa", "kpa": "kPa",
}  # fmt: skip
# Too short to trust after an underscore, plain in brackets.
_BRACKETS_ONLY = {
    "m": "m", "in": "in", "l": "l", "t": "t", "h": "h", "s": "s", "min": "min", "v": "V", "w": "W", "a": "A",
    "%": "%", "°c": "°C", "°f": "°F", "c": "°C", "f": "°F", "k": "K", "$": "$", "€": "€", "£": "£",
    "mg/dl": "mg/dl", "mmol/l": "mmol/l", "g/dl": "g/dl", "g/l": "g/l", "mg/l": "mg/l",
    "u/l": "U/l", "iu/l": "IU/l",
    "kg/m2": "kg/m²", "kg/m^2": "kg/m²", "kg/m²": "kg/m²",
    "m2": "m²", "m²": "m²", "cm2": "cm²", "m3": "m³", "m³": "m³",
    "km/h": "km/h", "m/s": "m/s", "µg": "µg", "ug": "µg", "fl": "fl", "muu/ml": "µU/ml", "µu/ml": "µU/ml",
    "year": "years", "month": "months", "week": "weeks", "day": "days", "hour": "hours", "minute": "minutes",
    "second": "seconds", "sec": "seconds", "beats/min": "bpm",
}  # fmt: skip
_IN_BRACKETS = {**_SUFFIXES, **_BRACKETS_ONLY}
_BRACKETS = re.compile(r"^(?P<label>.*\S)\s*(?:\((?P<round>[^()]*)\)|\[(?P<square>[^\[\]]*)\])$", re.DOTALL)


def split_unit(name: str) -> tuple[str, str | None]:
    """Split a header into its label and its unit.

    Only units of a fixed list count, so ``score (old)`` and ``plan_b`` keep their names whole.

    Returns
    -------
    (label, unit) : unit is None where the header carries none.
    """
    match = _BRACKETS.match(name)
    if match:
        written = match["round"] if match["round"] is not None else match["square"]
        unit = _IN_BRACKETS.get(re.sub(r"[\s_]+", "_", written.strip().lower().replace("μ", "µ")))
        return (match["label"], unit) if unit else (name, None)
    parts = name.split("_")
    for n_parts in (2, 1):
        unit = _SUFFIXES.get("_".join(parts[-n_parts:]).lower())
        if unit and len(parts) > n_parts and all(parts[:-n_parts]):
            return "_".join(parts[:-n_parts]), unit
    return name, None
