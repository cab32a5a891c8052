"""The handler stands in a file that this node's containerd does not read.

K3s, RKE2, k0s and MicroK8s bring a containerd of their own with its own top-level file. A toolkit that was not told so
edits `/etc/containerd/config.toml`, which belongs to another containerd or to none.

Why it matters: the toolkit is content, its file is right, and pods fail with `no runtime for "nvidia" is configured`.
Fix: tell the toolkit the file and the socket: `CONTAINERD_CONFIG`, `CONTAINERD_SOCKET`.
"""

from collections.abc import Iterator
from posixpath import dirname

from lockgate.containerd.traps import handlers_in
from lockgate.containerd.values import Origin
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_STOCK = "/etc/containerd"


@lint_rule(codes=("E05",), severity=Severity.WARNING)
def wrong_file(config: Config) -> Iterator[Problem]:
    root = config.subject.root
    if dirname(root) == _STOCK or config.effective.cri_disabled:
        return
    found = dict(_elsewhere(config))
    if found:
        names = ", ".join(f'"{name}"' for name in sorted(found))
        files = ", ".join(sorted({config.subject.show(origin.file) for origin in found.values()}))
        reads = config.subject.show(root)
        yield Problem(
            key=names,
            summary=f"runtime {names} is defined in {files}, and the kubelet's containerd reads {reads}",
            marks=(
                *(Mark.at(origin, f'defines runtime "{name}" for nobody') for name, origin in sorted(found.items())),
                Mark(root, 1, "is read instead, and does not define it"),
            ),
            help=f"set CONTAINERD_CONFIG={root} (and CONTAINERD_SOCKET) for the toolkit",
        )


def _elsewhere(config: Config) -> Iterator[tuple[str, Origin]]:
    """NVIDIA's handlers that only files of the stock containerd define."""
    for path in sorted(config.subject.files):
        if path.startswith(f"{_STOCK}/") and path.endswith(".toml") and path not in config.effective.loaded:
            for name, origin in handlers_in(config.subject.text(path), path, config.effective):
                if name.startswith("nvidia") and name not in config.effective.handlers:
                    yield name, origin
