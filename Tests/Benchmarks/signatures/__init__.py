"""Signing and verifying."""
