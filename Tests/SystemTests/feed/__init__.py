"""Reading the feed."""
