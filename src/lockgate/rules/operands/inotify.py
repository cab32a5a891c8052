"""The node has run out of inotify instances.

Programs that watch files need them from the kernel, which gives each user a small number (128 by default). The device
plugin watches the kubelet's folder.

Why it matters: the plugin ends at its start, so the node offers no GPU; other programs of the node fail likewise.
How to tell: `too many open files` together with a watcher; the limit of open files is not what is meant.
Fix: raise `fs.inotify.max_user_instances` on the node, and keep it in /etc/sysctl.d.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, restart
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# k8s-device-plugin 0.17.4 cmd/nvidia-device-plugin/main.go, and Go's fsnotify (gpu-operator#441).
_TEXT = re.compile(r"(?:FS watcher|inotify|fsnotify).*too many open files")


@rule(codes=("I08",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_PLUGIN)
def inotify(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT),
        lambda on, told: "no inotify instance is left, so a watcher of files cannot start.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    setting = "fs.inotify.max_user_instances=8192"
    return (
        Remedy(f"On {on.name}, see the limits", "sysctl fs.inotify", Risk.NONE),
        Remedy(
            f"On {on.name}, raise the limit",
            f"echo {setting} | sudo tee /etc/sysctl.d/90-inotify.conf; sudo sysctl {setting}",
            Risk.LOW,
        ),
        *restart(told),
    )
