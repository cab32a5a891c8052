"""`gpu_device_usage_<node>.log` of NVIDIA's must-gather: what runs on a node's GPUs, as several commands print it.

Each part stands below a line `# COMMAND ...`. Of them rules can use what `nvidia-smi` prints; who has a device open
(lsof, fuser, ls) is told by process, and no rule knows processes.
"""

import re
from typing import Final

_NAME: Final = re.compile(r"gpu_device_usage_(?P<node>[^/]+)\.log")
_SMI: Final = re.compile(r"(?m)^# nvidia-smi output from .*\n")
_NEXT: Final = re.compile(r"(?m)^# \S")


def usage_of(name: str) -> str:
    """The node that such a file is of, by its name; "" for any other file."""
    found = _NAME.fullmatch(name)
    return found["node"] if found else ""


def parse_device_usage(text: str) -> dict[str, str]:
    """The outputs in it, by the names of a node's folder; none where `nvidia-smi` printed nothing."""
    parts = (_NEXT.split(part, maxsplit=1)[0].strip("\n") for part in _SMI.split(text)[1:])
    said = "\n".join(part for part in parts if part.strip())
    return {"nvidia-smi": said} if said else {}
