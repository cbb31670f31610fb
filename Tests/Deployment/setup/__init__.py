"""Preparation of a deployment."""
