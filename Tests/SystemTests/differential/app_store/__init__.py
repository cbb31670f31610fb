"""Signed data of the App Store."""
