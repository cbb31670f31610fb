"""The real executables, a real Redis and the Apple simulator. `support` starts them; the other folders are tests by subject."""
