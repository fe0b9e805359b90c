"""The Compare page's parts: how sure scores are, thresholds, other models, another run, other seeds."""
