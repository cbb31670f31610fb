"""Events that are pushed to endpoints."""
