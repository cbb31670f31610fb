"""Sessions of the SDK, and consent."""
