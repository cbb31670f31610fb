"""Retention messages."""
