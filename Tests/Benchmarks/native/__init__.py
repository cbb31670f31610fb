"""Load generators and receivers in C, compiled for a run, and scripts for wrk."""
