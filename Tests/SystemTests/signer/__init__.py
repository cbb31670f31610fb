"""Signer: keys, and what they sign."""
