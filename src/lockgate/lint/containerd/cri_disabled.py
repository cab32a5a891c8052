"""The CRI plugin is switched off.

`disabled_plugins` names it; Docker's package of containerd comes with such a file.

Why it matters: containerd runs, and the kubelet has no container runtime: no pod starts on the node. Where the kubelet
is ready and lists runtime handlers, the containerd that runs has not read such a file, and serves it until it does.
Fix: take the plugin out of `disabled_plugins`.
"""

from collections.abc import Iterator
from typing import Final

from lockgate.containerd.migrate_cri import CRI, CRI_RUNTIME
from lockgate.containerd.values import Leaf
from lockgate.lint.edits import set_at
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.subject import Config, NodeFacts
from lockgate.model.finding import Severity

_NAMES = (CRI, CRI_RUNTIME, "cri")
_UNREAD: Final = "The CRI plugin is switched off in a file that the running containerd has not read"
_OFF: Final = "the kubelet then has no runtime"
_SERVES: Final = "containerd serves the kubelet all the same: it has not read this file, and a restart may let it"


@lint_rule(codes=("E06",), severity=Severity.BLOCKER)
def cri_disabled(config: Config) -> Iterator[Problem]:
    if not config.effective.cri_disabled:
        return
    serves = config.subject.serves_cri
    for path, document in config.documents.items():
        leaf = document.get("disabled_plugins")
        named = _named(leaf)
        if isinstance(leaf, Leaf) and named and not (serves and _is_older(config.subject.node, path)):
            yield Problem(
                key=path,
                title=_UNREAD if serves else "",
                severity=Severity.WARNING if serves else None,
                summary=f"{config.show(leaf.origin)} switches the CRI plugin off; {_SERVES if serves else _OFF}",
                marks=(Mark.at(leaf.origin, "switches the CRI plugin off", named[0]),),
                fixes=_fixes(config, leaf, named),
            )


def _is_older(node: NodeFacts | None, path: str) -> bool:
    """Whether the process began after the file was written: if it goes by the file, the plugin is off."""
    return (
        node is not None and node.started is not None and path in node.modified and node.modified[path] < node.started
    )


def _named(leaf: object) -> list[str]:
    values = leaf.value if isinstance(leaf, Leaf) and isinstance(leaf.value, list) else []
    return [value for value in values if isinstance(value, str) and value in _NAMES]


def _fixes(config: Config, leaf: Leaf, named: list[str]) -> tuple[Fix, ...]:
    rest = [value for value in leaf.value if value not in named] if isinstance(leaf.value, list) else []
    # The plugin's own sections appear again once it is on.
    sections = tuple(("plugins", name) for name in (*_NAMES, config.release.family.cri.images))
    return set_at(config, leaf.origin, rest, "take it out of disabled_plugins", ("disabled_plugins",), *sections)
