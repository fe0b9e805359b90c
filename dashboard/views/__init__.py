"""One module per page; each is run by ``st.navigation`` as a script."""
