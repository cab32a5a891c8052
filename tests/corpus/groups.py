"""The groups of questions that are scored, by name; what is made of the written ones may be sampled.

A sample takes a question by its name alone, so that a new case changes nothing about the others.
"""

import io
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec
import yaml

from lockgate.collect.offline import from_path
from lockgate.diagnosis.rule import Rule
from lockgate.diagnosis.scope import scope
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Diagnosis
from tests.corpus import apart
from tests.corpus.judge import Expect, matches
from tests.corpus.question import Question
from tests.corpus.variants import VARIANTS, Change, Variant, world
from tests.corpus.written import Case, load, of_rules
from tests.rules.world import snapshot

_PARTNERS = 4  # of each case, drawn by name
_BUNDLES = Path(__file__).parent.parent / "bundles"
Rules = tuple[Rule, ...]
Group = Callable[[Rules, int], Iterator[Question]]  # the rules, and which share of the generated: 1 of so many


def _asked(cases: Iterable[Case]) -> Iterator[Question]:
    for case in cases:
        facts = snapshot(case.facts)
        for ask in case.asks:
            yield Question(name=f"{case.name} ({ask or 'cluster'})", snapshot=facts, ask=ask, expect=case.expect)


def _written(folder: str) -> Group:
    return lambda _rules, _share: _asked(load(folder))


def _of_rules(_rules: Rules, _share: int) -> Iterator[Question]:
    return _asked(of_rules())


def _recorded(_rules: Rules, _share: int) -> Iterator[Question]:
    for path in sorted(_BUNDLES.glob("*.yaml")):
        facts = from_path(str(path.with_suffix(".tgz")), io.BytesIO())
        for case in yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["cases"]:
            yield Question(
                name=f"{path.stem} ({case['ask'] or 'cluster'})",
                snapshot=facts,
                ask=case["ask"],
                expect=Expect(causes=tuple(case["causes"])),
                namespace=case.get("namespace", "default"),
            )


# --- what is made of the written ones

# True beside a pod's fault where the whole cluster is looked at: what the operator and its DaemonSets say themselves.
_OF_THE_CLUSTER = ("operands/left-out", "operator/policy-not-ready")


def _of_cluster(_rules: Rules, share: int) -> Iterator[Question]:
    """The rules' cases about a GPU pod that is not well, asked as somebody asks who does not know of that pod."""
    for case in of_rules():
        name = f"{case.name} (of the cluster)"
        facts = snapshot(case.facts)
        if _sampled(name, share) and all(_is_sick_gpu_pod(facts, ask) for ask in case.asks):
            expect = msgspec.structs.replace(case.expect, also=_OF_THE_CLUSTER)
            yield Question(name=name, snapshot=facts, ask="", expect=expect)


def _is_sick_gpu_pod(facts: Snapshot, ask: str) -> bool:
    target = parse_target(ask, "default")
    if target.kind != "Pod" or isinstance(facts.nodes, Missing):
        return False
    return all(s.asks_gpu and not s.well for s in scope(facts, target).about)


def _sampled(name: str, share: int) -> bool:
    return zlib.crc32(name.encode()) % share == 0


def _varied(variant: str) -> Group:
    def questions(rules: Rules, share: int) -> Iterator[Question]:
        for case in chain(load("reports"), load("pairs"), load("healthy"), of_rules()):
            for which, change in VARIANTS[variant].changes(world(case.facts)).items():
                for ask in case.asks:
                    name = f"{case.name} ({ask or 'cluster'}), {variant}{f': {which}' if which else ''}"
                    if _sampled(name, share) and (made := _vary(case, ask, name, VARIANTS[variant], change, rules)):
                        yield made

    return questions


def _vary(case: Case, ask: str, name: str, variant: Variant, change: Change, rules: Rules) -> Question | None:
    changed = world(case.facts)
    takes_away = variant.takes_away(changed)
    if not change(changed, random.Random(name)):
        return None
    expect = allowing_less(case, ask, rules) if takes_away else case.expect
    return Question(name=name, snapshot=variant.read(changed), ask=ask, expect=expect)


def allowing_less(case: Case, ask: str, rules: Rules) -> Expect:
    """With fewer facts the answer may stop on the way: at what follows from the cause, or at not knowing.

    A code of the catalogue is not known where a rule says so that tells of it.
    """
    whole = Question(name=case.name, snapshot=snapshot(case.facts), ask=ask, expect=case.expect).answer(rules)
    way = [f.id for f in whole.findings if f.follows]
    causes = tuple("|".join((cause, *_telling(cause, whole), *way)) for cause in case.expect.causes)
    return msgspec.structs.replace(case.expect, causes=causes, or_unknown=True)


def _telling(cause: str, whole: Diagnosis) -> list[str]:
    """The ids and codes by which the whole facts tell of a cause."""
    return [name for f in whole.findings if matches(f, cause) for name in (f.id, *f.codes)]


def _apart(_rules: Rules, share: int) -> Iterator[Question]:
    """Pairs of cases that share a cluster; of each pair both questions."""
    cases = list(chain(load("reports"), of_rules()))
    for first in cases:
        for second in sorted(cases, key=lambda c: zlib.crc32(f"{first.name} + {c.name}".encode()))[:_PARTNERS]:
            name = f"{first.name} + {second.name}"
            if first.name == second.name or not _sampled(name, share) or not (facts := apart.together(first, second)):
                continue
            both = snapshot(facts)
            asked = [(ask, first.expect) for ask in first.asks]
            asked += [(apart.moved_ask(ask), second.expect) for ask in second.asks]
            for ask, expect in asked:
                yield Question(name=f"{name} ({ask})", snapshot=both, ask=ask, expect=expect)


GROUPS: dict[str, Group] = {
    "reports D1-D33": _written("reports"),
    "recorded clusters": _recorded,
    "failing cases of the rules": _of_rules,
    "the same asked of the cluster": _of_cluster,
    "two faults at once": _written("pairs"),
    "two faults apart": _apart,
    **{name: _varied(name) for name in VARIANTS},
    "healthy estates": _written("healthy"),
}
