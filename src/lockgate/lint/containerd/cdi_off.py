"""The device plugin hands out CDI devices, and containerd does not inject any.

The plugin has written its CDI specification (`k8s.device-plugin.nvidia.com`), so it answers the kubelet with CDI
names. containerd 1.7 injects them only with `enable_cdi = true`, 1.6 never; from 2.0 on it is the default.

Why it matters: pods start and see no GPU, or fail with `CDI devices requested but CDI support is explicitly disabled`.
Fix: `enable_cdi = true`, or let the plugin hand out device specs.
"""

from collections.abc import Iterator

from lockgate.containerd.migrate_cri import CRI, CRI_RUNTIME
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.edits import put, set_at
from lockgate.lint.rule import Fix, Mark, Path, Problem, lint_rule
from lockgate.lint.subject import CdiFiles, Config
from lockgate.model.finding import Severity

_PLUGIN = "k8s.device-plugin.nvidia.com/"


@lint_rule(codes=("E12",), severity=Severity.ERROR)
def cdi_off(config: Config, cdi: CdiFiles) -> Iterator[Problem]:
    effective = config.effective
    if effective.injects_cdi or effective.cri_disabled:
        return
    spec = next((f for f in cdi.registry.files if f.spec.kind.startswith(_PLUGIN)), None)
    if spec is None:
        return
    leaf = effective.leaf("plugins", config.runtime, "enable_cdi")
    said = leaf if leaf is not None and not leaf.origin.is_built_in else None
    can = config.release.family.cdi_switch
    why = "enable_cdi is false" if can else f"containerd {config.release} knows no CDI"
    yield Problem(
        key="enable_cdi",
        summary=f"the device plugin answers with CDI names ({config.subject.show(spec.path)}), and {why}",
        marks=(*((Mark.at(said.origin, "CDI is off"),) if said else ()), Mark(spec.path, _kind_line(cdi, spec.path))),
        help="enable_cdi = true" if can else "use containerd 1.7 or newer, or the plugin's device specs",
        fixes=_fixes(config, said) if can else (),
    )


def _kind_line(cdi: CdiFiles, path: str) -> int:
    lines = cdi.subject.text(path).splitlines()
    return next((n for n, line in enumerate(lines, 1) if _PLUGIN in line), 1)


def _fixes(config: Config, said: Leaf | None) -> tuple[Fix, ...]:
    intends: Path = ("plugins", config.runtime, "enable_cdi")
    if said is not None:
        return set_at(config, said.origin, True, "enable_cdi = true", intends)
    for path, document in reversed(list(config.documents.items())):
        plugins = document.get("plugins")
        for section in plugins if isinstance(plugins, Table) else ():
            if section in (CRI, CRI_RUNTIME, "cri"):
                return put(config, path, {("plugins", section, "enable_cdi"): True}, "enable_cdi = true", intends)
    root = config.subject.root
    section = CRI if config.release.family.plugin_by_id else config.runtime
    return put(config, root, {("plugins", section, "enable_cdi"): True}, "enable_cdi = true", intends)
