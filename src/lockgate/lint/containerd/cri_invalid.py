"""containerd starts, and its CRI plugin does not load.

Settings that exclude each other, such as `registry.mirrors` beside a `config_path`, are only found when the plugin
starts; the daemon goes on without it.

Why it matters: `systemctl status containerd` looks fine, while the kubelet has no container runtime and no pod starts.
Fix: remove one of the settings that exclude each other.
"""

from collections.abc import Iterator

from lockgate.containerd.validate import cri_problems
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_ELSEWHERE = ("default_runtime_name", "`runtime_root`", "`runtime_engine`")  # these have rules of their own


@lint_rule(severity=Severity.BLOCKER)
def cri_invalid(config: Config) -> Iterator[Problem]:
    for found in cri_problems(config.effective):
        if not any(name in found.message for name in _ELSEWHERE):
            file = found.origin.file or config.subject.root
            yield Problem(
                key=found.message,
                summary=f"containerd {config.release} loads, its CRI plugin does not: {found.message}",
                marks=(Mark(file, found.origin.line, "keeps the CRI plugin from loading"),),
            )
