"""How every agent logs: a line an event, with its moment, on standard error, which the kubelet keeps."""

import logging
import sys


def log_to_stderr() -> None:
    """Log from INFO on; once, by whoever starts the process."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
