"""Ingest: postbacks, retention messages, and what traces cost."""
