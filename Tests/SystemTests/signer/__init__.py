"""Signer: keys and signatures."""
