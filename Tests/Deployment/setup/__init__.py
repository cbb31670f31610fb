"""What prepares a deployment."""
