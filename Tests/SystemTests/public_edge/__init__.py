"""Ingest's public port, and what stands in front of it."""
