"""Recovery of missed notifications, and gaps."""
