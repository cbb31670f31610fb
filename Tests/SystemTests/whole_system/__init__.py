"""All services together: their start, and deliveries that pass through all of them."""
