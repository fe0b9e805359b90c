"""The rules of a trained machine: the names other modules and people's scripts use."""

from tmcore.conditions import Condition, RuleColumn
from tmcore.extract import extract
from tmcore.number_rules import NumberRules
from tmcore.rule import Explanation, FiredRule, NearMiss, Rule, Weight
from tmcore.ruleset import RuleSet

__all__ = [
    "Condition",
    "Explanation",
    "FiredRule",
    "NearMiss",
    "NumberRules",
    "Rule",
    "RuleColumn",
    "RuleSet",
    "Weight",
    "extract",
]
