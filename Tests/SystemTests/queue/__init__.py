"""The guarantees of the queue."""
