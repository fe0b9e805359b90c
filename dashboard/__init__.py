"""The Streamlit pages over :mod:`tmcore`: load a CSV, watch the machine learn, read its rules."""
