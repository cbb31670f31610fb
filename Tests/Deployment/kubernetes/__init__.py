"""The manifests."""
