"""Texts that people send and that hold no objects: what each is, and where it belongs or what to send instead."""

import re
from typing import Final

_BESIDE: Final = (
    "beside cluster/pods.json and cluster/nodes.json (kubectl get pods -A -o json, kubectl get nodes -o json)"
)
_COMPLAINT: Final = re.compile(r"(?m)^(?:Error from server|error: |Unable to connect to the server).*")
_KINDS: Final = (
    (
        _COMPLAINT,
        "holds kubectl's own complaint and no objects",
    ),
    (
        re.compile(r"(?m)^(?:NAMESPACE +)?NAME +[A-Z]\S*(?: +\S+)*$"),
        "is a table of kubectl get, which shows too little; send the same with -o json or -o yaml, or kubectl describe",
    ),
    (
        re.compile(r"(?m)nvidia-bug-report\.sh|Start of NVIDIA bug report|^\*\*\* ls: "),
        f"is NVIDIA's bug report of a node; put it into a folder as nodes/NODE/nvidia-bug-report.log.gz {_BESIDE}",
    ),
    (
        re.compile(r"(?m)\bkubelet\[\d+\]: |^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\.go:\d+\] "),
        f"is a log of a node's kubelet; put it into a folder as nodes/NODE/kubelet.txt {_BESIDE}",
    ),
    (
        re.compile(r"(?m)\bNVRM: |^\[ *\d+\.\d+\] "),
        f"is a kernel's log; put it into a folder as nodes/NODE/dmesg.txt {_BESIDE}",
    ),
)
_ELSE: Final = (
    "is neither JSON nor YAML of objects (kubectl get -o json|yaml), nor text of kubectl describe pod|node or of "
    "kubectl get events; what an error text means, kubectl gpu explain says"
)


def what_it_is(text: str) -> str:
    """How to go on from a text that is read by nothing here; the end of a complaint that begins with its name."""
    return known_as(text) or _ELSE


def known_as(text: str) -> str:
    """The same of a text that is known, "" of any other."""
    return next((said for pattern, said in _KINDS if pattern.search(text)), "")


def complaint(text: str) -> str:
    """What kubectl said instead of giving objects, where a text begins with that; "" of any other text."""
    found = _COMPLAINT.match(text.lstrip())
    return found[0].strip() if found else ""
