"""Postbacks and impressions of SKAdNetwork."""
