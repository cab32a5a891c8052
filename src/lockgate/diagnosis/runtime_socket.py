"""The runtime's socket that is not reached: the words of who tried, and whether the runtime answers all the same."""

import re
from typing import Final

from lockgate.diagnosis.stage import crash_loops, statuses
from lockgate.diagnosis.views.words import Said
from lockgate.model.objects import ContainerStatus, Pod

# Go's net.OpError, as gRPC hands it to the kubelet (gpu-operator#549).
UNREACHED: Final = re.compile(
    r"dial unix (?P<socket>\S*/(?P<runtime>containerd|crio|cri-dockerd)\.sock): "
    r"connect: (?P<why>connection refused|no such file or directory)"
)
TOOLKIT: Final = "container-toolkit"
_OFTEN: Final = 3  # restarts; while a runtime starts anew, its socket is away for seconds, for one of them or two


def looks_elsewhere(pod: Pod, said: Said) -> ContainerStatus | None:
    """The container that finds no socket, although the runtime has started it often since: the socket is elsewhere.

    None where somebody listened no longer (`connection refused`), or where the runtime may be what is away.
    """
    if said.match["why"] == "connection refused":
        return None
    own = (s for s in statuses(pod) if s.name == said.container or s.name in said.evidence.object)
    return next((s for s in own if crash_loops(s) and s.restart_count >= _OFTEN), None)
