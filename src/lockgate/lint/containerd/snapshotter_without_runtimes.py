"""A snapshotter is set at config version 2 without any runtime, and containerd 2 forgets it.

containerd 2 carries `snapshotter`, `disable_snapshot_annotations` and `discard_unpacked_layers` over to version 3 only
when the same section has `containerd.runtimes`.

Why it matters: after an upgrade images are unpacked by the built-in snapshotter, and what was set is gone without a
word.
Fix: define a runtime beside it, for example runc.
"""

from collections.abc import Iterator

from lockgate.containerd.effective import RUNC_V2
from lockgate.containerd.migrate_cri import CRI
from lockgate.containerd.values import find
from lockgate.lint.edits import put
from lockgate.lint.lost_settings import vain_leaves
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.statements import literal
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_KEYS = ("snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers")


@lint_rule(severity=Severity.ERROR)
def snapshotter_without_runtimes(config: Config) -> Iterator[Problem]:
    if config.release.family.plugin_by_id:
        return
    for section, inside, leaf in vain_leaves(config):
        if section not in (CRI, "cri") or inside[:1] != ("containerd",) or inside[1:] not in [(k,) for k in _KEYS]:
            continue
        images = ("plugins", config.release.family.cri.images, inside[1])
        now = config.effective.leaf(*images)
        document = config.documents[leaf.origin.file]
        if find(document, "plugins", section, "containerd", "runtimes") or (now and now.value == leaf.value):
            continue
        runc = ("plugins", section, "containerd", "runtimes", "runc", "runtime_type")
        yield Problem(
            key=f"{leaf.origin.file} {inside[1]}",
            summary=(
                f"{inside[1]} = {literal(leaf.value)} will have no effect (in effect is "
                f"{literal(now.value if now else '')}): "
                f"containerd {config.release} drops it where the section defines no runtime"
            ),
            marks=(Mark.at(leaf.origin, "forgotten when it is carried over to version 3"),),
            help="define a runtime beside it",
            fixes=put(config, leaf.origin.file, {runc: RUNC_V2}, "define runc beside it", images),
        )
