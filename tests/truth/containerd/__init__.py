"""Compares the model of containerd's configuration with the real programs, and with what they were once seen to do."""
