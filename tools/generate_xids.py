"""Generates `docs/reference/xids.md`: every XID that is known, its meaning, NVIDIA's action, and who acts on it."""

from lockgate.diagnosis.recognise import recognise
from lockgate.rules import all_rules
from lockgate.xid.codes import CODES, Code
from lockgate.xid.policies import by_default

PAGE = "docs/reference/xids.md"
_HEAD = """\
# XIDs

What NVIDIA's driver reports in the kernel's log. Meanings and actions are those of NVIDIA's catalogue, a family at a
time; what agents do is what they do unless they are configured otherwise. `kubectl gpu explain xid 79` says the same.

| XID | name | meaning | NVIDIA's action | {agents} | finding |
| ---: | --- | --- | --- | {rules} | --- |
"""


def generated() -> dict[str, str]:
    """Path -> content of the page."""
    agents = [policy.who for policy in by_default(0)]
    head = _HEAD.format(agents=" | ".join(agents), rules=" | ".join("---" for _ in agents))
    return {PAGE: head + "".join(_row(code) for code in CODES.values())}


def _row(code: Code) -> str:
    does = " | ".join(policy.does for policy in by_default(code.number))
    finding = next(iter(recognise(f"NVRM: Xid (PCI:0000:3b:00): {code.number}, text", all_rules())), "")
    link = f"[{finding}](findings/{finding}.md)"
    return f"| {code.number} | {code.name} | {code.meaning} | {code.action} | {does} | {link} |\n"
