"""Requests to Apple, held to those of Apple's library for Python."""
