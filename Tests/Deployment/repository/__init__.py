"""Documents, folders, linters and vocabulary."""
