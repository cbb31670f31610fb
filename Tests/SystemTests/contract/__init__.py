"""The services from the view of Connect clients and of readers of openapi.json."""
