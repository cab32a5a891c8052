"""Gate 2, the runtime: handlers and the files that decide them."""
