"""Services and Redis killed, stopped and cut off, what is sent meanwhile, and the count of what became of it."""
