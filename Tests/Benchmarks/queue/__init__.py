"""Queues and the store: processor time, memory and growth."""
