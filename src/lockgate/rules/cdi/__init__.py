"""Gate 2, the injection: CDI devices and the specifications that define them."""
