"""All services together: how they start, and a delivery's way through all of them."""
