"""A CDI specification brings a device node, library or program that the node does not have.

It was written for another driver or before devices changed, and nobody has renewed it; or a device node is not made
yet, since the kernel module behind it is not loaded.

Why it matters: no container that gets the device starts on the node, however healthy the other GPUs are.
How to tell: `failed to stat CDI host device`, or the runtime cannot mount a file of the driver that is not there.
Fix: have the specification written again by who wrote it, or bring back the device node that it names.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final

from lockgate.cdi.registry import DEFAULT_DIRECTORIES
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.remedies import restart_plugin, restart_toolkit
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Missing, NodeFiles, NodeFolders
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# pkg/cdi/container-edits_unix.go (CDI 0.8.1 to 1.1.2); libcontainer/rootfs_linux.go (runc 1.5.3), of the driver's files
# alone: other files are a volume's. A hook that a specification names is started by the runtime.
_DRIVER: Final = r"/(?:[^\"\\]*/)?(?:lib(?:cuda|nvidia|nvcuvid|nvoptix|GLX_nvidia|EGL_nvidia)|nvidia)[^\"\\]*"
_TEXTS = (
    re.compile(r'failed to stat CDI host device \\?"(?P<path>[^"\\]+)'),
    re.compile(rf'error mounting \\?"(?P<path>{_DRIVER})\\?" to rootfs at .*no such file or directory'),
    re.compile(r"fork/exec (?P<path>\S*/nvidia-(?:ctk|cdi-hook)): no such file or directory"),
)
_DIRECTORIES: Final = (*DEFAULT_DIRECTORIES, "/run/cdi")


@rule(
    codes=("E12",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked"),
)
def path_gone(pod: Pod, words: Words, node_files: NodeFolders | Missing, plugin: Plugin | Missing) -> Failed | None:
    said = words.find_outside_logs(*_TEXTS)
    if said is None:
        return None
    node, path = pod.spec.node_name, said.match["path"]
    quoted = shlex.quote(path)
    folders = () if isinstance(node_files, Missing) else node_files
    specs = tuple(e for folder in folders if folder.node == node for e in _naming(folder, path))
    return Failed(
        about=f"node/{node}",
        summary=f"A CDI specification of {node} brings {path}, which the node does not have.",
        evidence=(said.evidence, *specs),
        remedy=(
            Remedy(
                f"On {node}, see which specification names it, and what is there",
                f"grep -rn {quoted} /etc/cdi /var/run/cdi; ls -l {quoted} /dev/nvidia*",
                Risk.NONE,
            ),
            _anew(node, specs, plugin),
        ),
    )


def _naming(folder: NodeFiles, path: str) -> Iterator[Evidence]:
    """The first line of each specification of the node that names the path."""
    whole = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w./-])")
    for name, text in sorted(folder.files.items()):
        if name.rpartition("/")[0] in _DIRECTORIES:
            number, line = next((n for n in enumerate(text.splitlines(), 1) if whole.search(n[1])), (0, ""))
            if number:
                note = "the device plugin's" if names.CDI_PLUGIN in text else ""
                yield Evidence(file=f"{folder.node}:{name}", line=number, verbatim=line.strip()[:200], note=note)


def _anew(node: str, specs: tuple[Evidence, ...], plugin: Plugin | Missing) -> Remedy:
    if specs and all(spec.note for spec in specs):
        return restart_plugin(node, plugin, f"Restart the device plugin of {node}: it writes its specification anew")
    return restart_toolkit(node, f"Restart the toolkit of {node}: it writes the specification anew", Risk.MEDIUM)
