"""AdServices tokens and the token broker."""
