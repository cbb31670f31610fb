"""The token broker."""
