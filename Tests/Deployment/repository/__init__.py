"""Documents, folders, linters and the words that are used."""
