"""The real executables, a real Redis and the Apple simulator. `support` starts them; each other folder has the tests of one subject."""
