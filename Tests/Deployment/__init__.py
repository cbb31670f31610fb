"""Tests of the files in Deploy, and of the repository itself."""
