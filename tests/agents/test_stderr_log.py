"""What an agent logs goes to standard error, with its moment."""

import subprocess
import sys


def test_a_line_has_its_moment_and_stays_off_standard_output() -> None:
    script = "import logging; from lockgate.agents.stderr_log import log_to_stderr; log_to_stderr(); logging.info('on')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.rstrip().endswith("INFO on")
    assert done.stderr[:2] == "20"
