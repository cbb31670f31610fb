"""Requests to Apple, compared with those of Apple's library for Python."""
