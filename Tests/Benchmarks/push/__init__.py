"""Pushed events."""
