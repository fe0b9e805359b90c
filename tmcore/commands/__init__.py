"""What each command of ``tmcore`` does; `tmcore.cli` reads its words and turns errors into one sentence."""
