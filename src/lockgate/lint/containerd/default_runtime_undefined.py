"""The default runtime is one that no file defines.

`default_runtime_name` names the handler of every pod that asks for none.

Why it matters: the CRI plugin does not load, the kubelet reports the container runtime as down, and no pod starts.
Fix: define the handler, or name one that is defined.
"""

from collections.abc import Iterator

from lockgate.containerd.validate import cri_problems
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(codes=("E01",), severity=Severity.BLOCKER)
def default_runtime_undefined(config: Config) -> Iterator[Problem]:
    effective = config.effective
    found = next((p for p in cri_problems(effective) if "default_runtime_name" in p.message), None)
    if found is None:
        return
    defined = ", ".join(sorted(effective.handlers)) or "none"
    name = effective.default_runtime_name or ""
    file = found.origin.file or config.subject.root
    yield Problem(
        key=name,
        summary=f'default_runtime_name is "{name}", and no file that is read defines it (defined: {defined})',
        marks=(Mark(file, found.origin.line, "not defined", f'"{name}"' if name else ""),),
        help=f'define [plugins."{config.runtime}".containerd.runtimes.{name or "runc"}], or name one of: {defined}',
    )
