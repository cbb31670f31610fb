"""Helpers of the tests of the Kubernetes manifests."""
