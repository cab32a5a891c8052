"""Which paths of the node the rules would like to know about: whoever collects looks whether they are there."""

from posixpath import isabs

from lockgate.containerd.effective import Effective
from lockgate.lint.cdi_paths import host_paths
from lockgate.lint.rancher import templates
from lockgate.lint.subject import CdiFiles, Subject

_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def asked_paths(subject: Subject) -> tuple[str, ...]:
    """Absolute paths on the node, sorted."""
    effective = subject.effective
    handlers = effective.handlers.values() if isinstance(effective, Effective) else ()
    paths = {place for handler in handlers for place in binary_places(handler.binary_name)}
    paths.update(templates(subject.root))
    cdi = subject.view("cdi")
    if isinstance(cdi, CdiFiles):
        paths |= {path.path for file in cdi.registry.files for path in host_paths(file)}
    return tuple(sorted(paths))


def binary_places(name: str) -> tuple[str, ...]:
    """Where a runtime binary may be: its own path, or the usual PATH of a service."""
    if not name:
        return ()
    return (name,) if isabs(name) else tuple(f"{folder}/{name}" for folder in _PATH)
