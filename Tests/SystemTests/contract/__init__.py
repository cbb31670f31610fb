"""The services as clients of Connect and readers of openapi.json see them."""
