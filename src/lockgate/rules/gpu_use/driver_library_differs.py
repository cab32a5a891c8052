"""The driver's kernel module and its libraries are of different versions.

The libraries on the node were updated (often by unattended-upgrades) while the old module stayed loaded, or the other
way round.

Why it matters: NVML and CUDA refuse to work for every pod of the node, and for the device plugin.
How to tell: `/proc/driver/nvidia/version` names the loaded module, the text names the library's version.
Fix: drain the node and reboot it, or unload the modules and load the new ones. Hold the driver's packages afterwards.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Said, Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"[Dd]river/library version mismatch|ERROR_LIB_RM_VERSION_MISMATCH|NVML/RM version mismatch")
_LIBRARY = re.compile(r"NVML library version: (?P<version>\d+\.\d+(?:\.\d+)?)")
_MODULE = re.compile(r"NVRM version: .*?\s(?P<version>\d{3}\.\d+(?:\.\d+)?)\s")
_FILE = "/proc/driver/nvidia/version"


@rule(
    codes=("J04",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.RUNNING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked", "gpu-use/not-injected"),
)
def driver_library_differs(pod: Pod, words: Words, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    library, module = words.find(_LIBRARY), _module(node, node_words.file(node, _FILE))
    return Failed(
        about=f"node/{node}",
        summary=f"On {node} libraries and loaded module of the driver differ{_versions(library, module)}.",
        evidence=some(said.evidence, library.evidence if library else None, module),
        remedy=(
            Remedy("See both versions on the node", f"cat {_FILE}; ls /usr/lib/*/libnvidia-ml.so.*", Risk.NONE),
            drain(node, f"Drain {node} and reboot it"),
        ),
    )


def _versions(library: Said | None, module: Evidence | None) -> str:
    known = (f"libraries {library.match['version']}" if library else "", f"module {module.value}" if module else "")
    told = ", ".join(each for each in known if each)
    return f": {told}" if told else ""


def _module(node: str, text: str) -> Evidence | None:
    match = _MODULE.search(text)
    if match is None:
        return None
    return Evidence(file=f"{node}:{_FILE}", field="NVRM version", value=match["version"], verbatim=text.splitlines()[0])
