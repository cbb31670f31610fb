"""Lists of what images are made of."""
