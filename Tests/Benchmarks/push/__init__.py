"""Events that are pushed."""
