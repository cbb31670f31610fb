"""What the queue promises."""
