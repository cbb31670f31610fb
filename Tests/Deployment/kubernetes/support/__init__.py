"""What the tests of the Kubernetes manifests stand on."""
