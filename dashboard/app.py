"""The dashboard's main script: page frame, navigation, and what is started once per server."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from dashboard import asked, jobs, keeping, session, settings_link, style


def main() -> None:
    """Draw the frame that all pages share and run the chosen one."""
    st.set_page_config(page_title="Tsetlin dashboard", page_icon=style.icon(), layout="wide")
    st.logo(style.logo(), size="medium")
    jobs.warm_up()
    keeping.arrive()
    views = files("dashboard") / "views"
    page = st.navigation(
        [
            st.Page(str(views / "data.py"), title="Data", url_path="data", default=True),
            st.Page(str(views / "train.py"), title="Train", url_path="train"),
            st.Page(str(views / "rules.py"), title="Rules", url_path="rules"),
            st.Page(str(views / "explain.py"), title="Explain", url_path="explain"),
            st.Page(str(views / "compare.py"), title="Compare", url_path="compare"),
            st.Page(str(views / "score.py"), title="Score", url_path="score"),
        ],
        position="top",
    )
    style.inject()
    settings_link.take(session.current())
    for notice in session.current().take_notices():
        st.info(style.plain(notice))
    asked.remember(page)
    page.run()


main()
