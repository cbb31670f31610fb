"""What is under Deploy, and the repository itself."""
