"""Metrics and traces of running services."""
