"""How one answer is scored: is the cause first, is it among the first three, and what is wrongly said to block?"""

import msgspec

from lockgate.model.finding import Diagnosis, Finding, Severity, Verdict


class Expect(msgspec.Struct, frozen=True, kw_only=True):
    """What must be answered. A cause is a code of the catalogue or a rule's id; `E02|E03` leaves the choice.

    `causes` come in the order in which they must be mended, unless `any_order` says that nothing decides it. `also` is
    true beside them. With `or_unknown` the facts may not suffice: then saying so is right, and guessing is wrong.
    Without causes the cluster is well, and nothing above a remark may be found.
    """

    causes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    any_order: bool = False
    or_unknown: bool = False


class Score(msgspec.Struct, frozen=True):
    """One question's score; `wrong` are the ids of findings above a warning that are not true."""

    first: bool
    among_three: bool
    wrong: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether nothing is to be said against it."""
        return self.first and self.among_three and not self.wrong


def judge(diagnosis: Diagnosis, expect: Expect) -> Score:
    """Only roots count: what is shown under its cause is not said to be one."""
    roots = [f for f in diagnosis.findings if not f.follows]
    if not expect.causes:
        worse = tuple(f.id for f in roots if f.severity is not Severity.INFO)
        return Score(not worse, not worse, worse)
    true = (*expect.causes, *expect.also)
    wrong = tuple(f.id for f in roots if _blocks(f, expect) and not any(matches(f, cause) for cause in true))
    if expect.or_unknown and not wrong and _says_unknown(diagnosis, expect):
        return Score(True, True, ())
    leading = expect.causes if expect.any_order else expect.causes[:1]
    first = bool(roots) and any(matches(roots[0], cause) for cause in leading)
    shown = [any(matches(f, cause) for f in roots[:3]) for cause in expect.causes]
    return Score(first, any(shown) if expect.or_unknown else all(shown), wrong)


def _says_unknown(diagnosis: Diagnosis, expect: Expect) -> bool:
    """Whether the answer, or the rule of the cause, says that something could not be checked."""
    open_rules = {rule for n in diagnosis.not_checked for rule in (n.id, *n.rules)}
    asked = {one for cause in expect.causes for one in cause.split("|")}
    return diagnosis.verdict in (Verdict.UNKNOWN, Verdict.WAITING) or bool(open_rules & asked)


def matches(finding: Finding, cause: str) -> bool:
    """Whether a finding is one of the alternatives, by its id or by one of its codes."""
    return any(one == finding.id or one in finding.codes for one in cause.split("|"))


def _blocks(finding: Finding, expect: Expect) -> bool:
    """Whether it is said to be why nothing runs; a symptom whose cause is said to be unknown is no guess."""
    symptom = finding.gpu is None and expect.or_unknown
    return finding.severity.rank >= Severity.ERROR.rank and not symptom
