"""Signing and verification."""
