"""What verifier makes of postbacks, notifications and other signed data."""
