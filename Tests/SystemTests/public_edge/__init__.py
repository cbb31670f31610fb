"""Ingest's public port, and the proxies in front of it."""
