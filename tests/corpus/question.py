"""One question to the corpus: facts, what is asked, and what must be answered."""

import msgspec

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.rule import Rule
from lockgate.diagnosis.target import TargetMissingError, parse_target
from lockgate.model.facts import Snapshot
from lockgate.model.finding import Diagnosis
from tests.corpus.judge import Expect, Score, judge


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """`name` says which case it is, and which variant of it."""

    name: str
    snapshot: Snapshot
    ask: str
    expect: Expect
    namespace: str = "default"

    def answer(self, rules: tuple[Rule, ...]) -> Diagnosis:
        """What Lockgate says."""
        return diagnose(self.snapshot, parse_target(self.ask, self.namespace), rules)

    def score(self, rules: tuple[Rule, ...]) -> Score:
        """How good that is; to say that the target is not among the facts is to say that it is not known."""
        try:
            return judge(self.answer(rules), self.expect)
        except TargetMissingError:
            return Score(self.expect.or_unknown, self.expect.or_unknown, ())
