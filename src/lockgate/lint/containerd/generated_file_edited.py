"""A file that K3s or RKE2 writes anew at each start was edited, and not its template.

`/var/lib/rancher/k3s/agent/etc/containerd/config.toml` is made from a template whenever K3s (or RKE2) starts. NVIDIA's
toolkit, or a person, that writes into the file itself is heard until then.

Why it matters: the handler works today, and is gone after the next start of K3s: an upgrade or a reboot, weeks later.
Fix: write it into `config.toml.tmpl` beside it (`config-v3.toml.tmpl` from containerd 2.0 on), under a first line
`{{ template "base" . }}`, or into a drop-in of a folder that the generated file imports.
"""

from collections.abc import Iterator, Mapping
from posixpath import dirname

from lockgate.containerd.traps import handlers_in
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.rancher import generator, own_folders, templates
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

# K3s adds `nvidia` (and `nvidia-experimental`, `nvidia-cdi`) by itself where it finds the programs; this one never.
_NEVER_GENERATED = ("nvidia-legacy",)
_HEADER = "DO NOT EDIT"


@lint_rule(codes=("E05",), severity=Severity.ERROR)
def generated_file_edited(config: Config, presence: Mapping[str, bool]) -> Iterator[Problem]:
    root = config.subject.root
    who = generator(root)
    known = [path for path in templates(root) if path in config.subject.files or presence.get(path) is False]
    if not who or len(known) < len(templates(root)):
        return  # a template that nobody has looked for may say it all
    marks = tuple(_edits(config, "\n".join(config.subject.text(path) for path in known)))
    if marks:
        there = next((path for path in known if config.subject.text(path)), templates(root)[config.release.major >= 2])
        yield Problem(
            key=root,
            summary=(
                f"{config.subject.show(root)} is written anew whenever {who} starts, and what was edited there is "
                f"gone then: {there} does not say it"
            ),
            marks=marks,
            help=f'write it into {there}, below `{{{{ template "base" . }}}}`, and restart {who}',
        )


def _edits(config: Config, template: str) -> Iterator[Mark]:
    """The lines that no generator writes and that no template has."""
    root = config.subject.root
    for name, origin in handlers_in(config.subject.text(root), root, config.effective):
        if name in _NEVER_GENERATED and name not in template:
            yield Mark.at(origin, f'nobody generates runtime "{name}" here')
    said = config.documents.get(root, Table()).get("imports")
    entries = said.value if isinstance(said, Leaf) and isinstance(said.value, list) else []
    for entry in entries:
        if isinstance(entry, str) and dirname(entry) not in own_folders(root) and entry not in template:
            assert isinstance(said, Leaf)
            yield Mark.at(said.origin, f"nobody generates the import of {entry} here", entry)
    if not template.strip() and _HEADER not in config.subject.text(root).partition("[")[0]:
        yield Mark(root, 1, f"the `{_HEADER}` of a generated file is gone: a program wrote the file anew")
