"""A Tsetlin machine for tables whose rules can be read: fast kernels, a scikit-learn estimator, rules and exports."""

from tmcore.estimators import TsetlinClassifier, load
from tmcore.parameters import PARAMETERS, Parameters
from tmcore.rules import Rule, RuleSet
from tmcore.suggest import Suggestion, suggest_settings
from tmcore.table import Table, TableError, read_table
from tmcore.training import Snapshot, TrainingRun

__all__ = [
    "PARAMETERS",
    "Parameters",
    "Rule",
    "RuleSet",
    "Snapshot",
    "Suggestion",
    "Table",
    "TableError",
    "TrainingRun",
    "TsetlinClassifier",
    "load",
    "read_table",
    "suggest_settings",
]
