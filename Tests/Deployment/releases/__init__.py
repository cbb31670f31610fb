"""Releases and images."""
