"""Units that column headers carry, as in ``age (years)``, ``resting BP [mm Hg]`` or ``bill_length_mm``."""

from __future__ import annotations

import re

# How a unit is written in a header (lower case, spaces and underscores as "_") and how it is shown.
_SUFFIXES = {
    "mm": "mm", "cm": "cm", "km": "km", "inch": "in", "inches": "in", "ft": "ft", "miles": "miles",
    "g": "g", "mg": "mg", "kg": "kg", "lb": "lb", "lbs": "lb",
    "ml": "ml", "litres": "l", "liters": "l",
    "mg_dl": "mg/dl", "mg_l": "mg/l", "g_dl": "g/dl", "g_l": "g/l", "ng_ml": "ng/ml", "pg_ml": "pg/ml",
    "ug_l": "µg/l", "mmol_l": "mmol/l", "umol_l": "µmol/l", "nmol_l": "nmol/l", "meq_l": "mEq/l", "iu_l": "IU/l",
    "kg_m2": "kg/m²", "ml_min": "ml/min", "mm_hg": "mm Hg", "mmhg": "mm Hg",
    "years": "years", "yrs": "years", "months": "months", "weeks": "weeks", "days": "days",
    "hours": "hours", "hrs": "hours", "minutes": "minutes", "mins": "minutes",
    "seconds": "seconds", "secs": "seconds",
    "ms": "ms", "bpm": "bpm", "rpm": "rpm", "hz": "Hz", "khz": "kHz", "mhz": "MHz",
    "kmh": "km/h", "km_h": "km/h", "mph": "mph", "celsius": "°C", "fahrenheit": "°F",
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "chf": "CHF", "jpy": "JPY", "percent": "%", "pct": "%",
    "kcal": "kcal", "kwh": "kWh", "watts": "W", "volts": "V", "hpa": "hPa", "kpa": "kPa", "mbar": "mbar",
}  # fmt: skip
# Too short to trust after an underscore, or words of their own there; plain in brackets. What may also be an illness,
# an index or a name (CAD, AUD, INR) is in neither.
_BRACKETS_ONLY = {
    "m": "m", "in": "in", "l": "l", "dl": "dl", "t": "t", "h": "h", "s": "s", "min": "min", "v": "V", "w": "W",
    "a": "A", "kw": "kW", "kv": "kV", "oz": "oz", "gal": "gal", "mcg": "µg", "um": "µm", "nm": "nm", "°": "°",
    "bar": "bar", "atm": "atm", "psi": "psi", "cmh2o": "cm H₂O", "cm_h2o": "cm H₂O", "ppm": "ppm", "ppb": "ppb",
    "%": "%", "‰": "‰", "°c": "°C", "°f": "°F", "c": "°C", "f": "°F", "k": "K", "bps": "bps",
    "$": "$", "€": "€", "£": "£", "¥": "¥", "us$": "US$", "k€": "k€", "keur": "kEUR", "t€": "T€", "teur": "TEUR",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "czk": "CZK", "cny": "CNY", "sgd": "SGD", "hkd": "HKD",
    "mg/dl": "mg/dl", "mmol/l": "mmol/l", "g/dl": "g/dl", "g/l": "g/l", "mg/l": "mg/l", "µg/l": "µg/l",
    "ug/l": "µg/l", "µg/dl": "µg/dl", "ug/dl": "µg/dl", "µg/ml": "µg/ml", "ug/ml": "µg/ml", "ng/ml": "ng/ml",
    "ng/dl": "ng/dl", "ng/l": "ng/l", "pg/ml": "pg/ml", "µmol/l": "µmol/l", "umol/l": "µmol/l", "nmol/l": "nmol/l",
    "pmol/l": "pmol/l", "mmol/mol": "mmol/mol", "meq/l": "mEq/l", "mg/g": "mg/g", "mg/kg": "mg/kg",
    "u/l": "U/l", "iu/l": "IU/l", "miu/l": "mIU/l", "miu/ml": "mIU/ml", "iu/ml": "IU/ml", "mu/l": "mU/l",
    "muu/ml": "µU/ml", "µu/ml": "µU/ml", "10^9/l": "10⁹/l", "x10^9/l": "10⁹/l", "10^12/l": "10¹²/l",
    "x10^12/l": "10¹²/l", "/µl": "/µl", "cells/µl": "cells/µl", "mm/h": "mm/h", "mm/hr": "mm/h",
    "kg/m2": "kg/m²", "kg/m^2": "kg/m²", "kg/m²": "kg/m²", "ml/min": "ml/min", "l/min": "l/min", "ml/kg": "ml/kg",
    "ml/min/1.73m2": "ml/min/1.73 m²", "ml/min/1.73_m2": "ml/min/1.73 m²", "ml/min/1.73m²": "ml/min/1.73 m²",
    "ml/min/1.73_m²": "ml/min/1.73 m²",
    "m2": "m²", "m²": "m²", "cm2": "cm²", "cm²": "cm²", "km2": "km²", "km²": "km²", "ha": "ha", "sqft": "sq ft",
    "sq_ft": "sq ft", "m3": "m³", "m³": "m³", "cm3": "cm³", "cm³": "cm³",
    "km/h": "km/h", "m/s": "m/s", "µg": "µg", "ug": "µg", "ng": "ng", "fl": "fl", "pg": "pg", "iu": "IU",
    "year": "years", "month": "months", "week": "weeks", "day": "days", "hour": "hours", "minute": "minutes",
    "second": "seconds", "sec": "seconds", "yr": "years", "mths": "months", "wks": "weeks",
    "beats/min": "bpm", "beats_per_minute": "bpm", "breaths/min": "breaths/min", "/min": "/min", "1/min": "/min",
    "%_p.a.": "% p.a.",
}  # fmt: skip
_MEASURES = {
    "c": "temp", "f": "temp", "k": "temp", "v": "volt", "w": "power|watt", "a": "current|amp",
    "l": "vol|capacity|fev|fvc|water|fuel|consum", "min": "time|duration|wait|delay|length|interval|stay",
}  # fmt: skip
"""What a label must speak of for letters in brackets to be a unit, since "hepatitis (C)", "grip (L)" or "temp (min)"
mean something else."""
_SHORT = 3
_NO_ABBREVIATIONS = ("bpm", "rpm")
_IN_BRACKETS = {**_SUFFIXES, **_BRACKETS_ONLY}
_IN = re.compile(r"^in\s+", re.IGNORECASE)
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
        unit = _in_brackets(written.strip(), match["label"])
        return (match["label"], unit) if unit else (name, None)
    parts = name.split("_")
    for n_parts in (2, 1):
        unit = _SUFFIXES.get("_".join(parts[-n_parts:]).lower())
        if unit and len(parts) > n_parts and all(parts[:-n_parts]):
            return "_".join(parts[:-n_parts]), unit
    return name, None


def _in_brackets(written: str, label: str) -> str | None:
    """The unit in the brackets behind a label, None where they hold something else."""
    written = _IN.sub("", written).replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}")
    key = re.sub(r"[\s_]+", "_", written.lower())
    unit = _IN_BRACKETS.get(key)
    if unit is None or not re.search(_MEASURES.get(key, ""), label, re.IGNORECASE):
        return None
    abbreviates = (
        written.isupper() and not label.isupper() and len(written) <= _SHORT and key not in _MEASURES
    )
    if abbreviates and written.lower() == unit and unit not in _NO_ABBREVIATIONS:
        return None  # as in "multiple myeloma (MM)"
    # A litre's L and the blank in "mm Hg" are as the table has them.
    same = written.replace("L", "l").replace(" ", "") == unit.replace(" ", "")
    return written if same else unit
