"""The device plugin hands out CDI device names that no specification of the node defines.

With the strategy `cdi-cri` or `cdi-annotations` the plugin answers the kubelet with names like
`k8s.device-plugin.nvidia.com/gpu=GPU-...`, and containerd looks them up in its CDI directories. The plugin writes that
specification itself; its folder may be another one than containerd's, or the file is of other devices.

Why it matters: the node advertises its GPUs, pods are bound to it, and none starts: `unresolvable CDI devices`.
Fix: let the plugin write where containerd reads (`/var/run/cdi`), and restart its pod on the node: it writes the file
anew.
"""

from collections.abc import Iterator

from lockgate.kit.counted import few
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles, NodeFacts
from lockgate.model.finding import Severity

_SHOWN = 3


@lint_rule(codes=("E11",), severity=Severity.ERROR)
def allocated_name_undefined(cdi: CdiFiles, node: NodeFacts) -> Iterator[Problem]:
    handed = node.hands_out
    if handed is None:
        return
    defined = set(cdi.registry.devices)
    if handed.devices:
        lost = [name for device in handed.devices if (name := f"{handed.kind}={device}") not in defined]
    else:
        lost = [] if any(name.startswith(f"{handed.kind}=") for name in defined) else [f"{handed.kind}=..."]
    if lost:
        read = " and ".join(cdi.directories) or "no directory"
        yield Problem(
            key=handed.kind,
            summary=f"the device plugin hands out {few(lost, _SHOWN)}, which nothing in {read} defines",
            marks=tuple(_near(cdi, handed.kind)),
            help="restart the device plugin's pod on the node; its CDI folder must be one that containerd reads",
        )


def _near(cdi: CdiFiles, kind: str) -> Iterator[Mark]:
    """The files that are of the kind, or look as if they were."""
    stem = kind.replace("/", "-")
    own = {file.path for file in cdi.registry.files if file.spec.kind == kind}
    for path in cdi.paths:
        if path in own:
            yield Mark(path, 1, "defines other devices of this kind")
        elif path.rpartition("/")[2].startswith(stem):
            yield Mark(path, 1, "is not read, or not usable")
