"""Why did it move? What one row did to the clauses, in pictures and words; a part of the live view's component."""
