"""How verifier processes postbacks, notifications and other signed data."""
