"""The papers' tables and the comparisons with other learners, as commands."""
