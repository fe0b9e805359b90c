"""A Tsetlin machine for tables whose rules can be read: fast kernels, a scikit-learn estimator, rules and exports."""

from tmcore.estimators import TsetlinClassifier
from tmcore.model_files import load
from tmcore.parameters import PARAMETERS, Parameters
from tmcore.regressor import TsetlinRegressor
from tmcore.rules import NumberRules, Rule, RuleSet
from tmcore.suggest import Suggestion, suggest_settings
from tmcore.table import Table, TableError, read_table
from tmcore.training import Snapshot, TrainingRun

__all__ = [
    "PARAMETERS",
    "NumberRules",
    "Parameters",
    "Rule",
    "RuleSet",
    "Snapshot",
    "Suggestion",
    "Table",
    "TableError",
    "TrainingRun",
    "TsetlinClassifier",
    "TsetlinRegressor",
    "load",
    "read_table",
    "suggest_settings",
]
