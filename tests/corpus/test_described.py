"""What is asked of a pod is answered as well from what `kubectl describe pod` prints of it and of its neighbours."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any

import pytest

from lockgate.collect.offline import from_bytes
from lockgate.diagnosis.rule import Rule
from lockgate.model.facts import Snapshot
from lockgate.rules import all_rules
from tests.corpus.described import describe
from tests.corpus.groups import allowing_less
from tests.corpus.question import Question
from tests.corpus.variants import Objects, messages, world
from tests.corpus.written import Case, load, of_rules

_ASKED = [(case, ask) for case in chain(load("reports"), of_rules()) for ask in case.asks if ask.startswith("pod/")]
# NVIDIA's runtime writes a line of its own before that of a hook that fails: such a message has two lines.
_HOOK = "nvidia-container-cli: "
_TWO_LINES = f"stderr: Auto-detected mode as 'legacy'\n{_HOOK}"


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(all_rules())


def _key(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata.get("namespace", "default"), metadata.get("name", "")


def _pasted(objects: Objects) -> Snapshot:
    """Every pod described, one below the other."""
    texts = [
        describe(pod, [e for e in objects["events"] if _key(e["involvedObject"]) == _key(pod["metadata"])])
        for pod in objects["pods"]
    ]
    return from_bytes("standard input", "\n\n".join(texts).encode())


def _of_waits(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a container waits for as the kubelet's event, since describe shows no message of a state that waits."""
    states = [s.get("state", {}).get("waiting", {}) for s in pod.get("status", {}).get("containerStatuses", ())]
    about = {"kind": "Pod", "namespace": _key(pod["metadata"])[0], "name": pod["metadata"]["name"]}
    return [
        {"type": "Warning", "reason": "Failed", "message": f"Error: {state['message']}", "involvedObject": about}
        for state in states
        if state.get("message") and state.get("reason") == "RunContainerError"
    ]


def _misses(case: Case, ask: str, *, two_lines: bool) -> str:
    told = world(case.facts)
    told.objects["events"] += [event for pod in told.objects["pods"] for event in _of_waits(pod)]
    for text in messages(told) if two_lines else ():
        text["message"] = text["message"].replace(_HOOK, _TWO_LINES)
    expect = allowing_less(case, ask, _rules())
    score = Question(name=case.name, snapshot=_pasted(told.objects), ask=ask, expect=expect).score(_rules())
    return "" if score.right else f"{case.name} ({ask}) {score}"


@pytest.mark.parametrize("two_lines", [False, True], ids=["as recorded", "hooks of two lines"])
def test_every_question_about_a_pod_is_answered_from_its_description(two_lines: bool) -> None:
    assert len(_ASKED) > 200
    missed = [miss for case, ask in _ASKED if (miss := _misses(case, ask, two_lines=two_lines))]
    assert missed == []


def test_columns_end_where_a_text_has_a_newline() -> None:
    pod = {"metadata": {"name": "a"}}
    event = {"type": "Warning", "reason": "Failed", "message": "one\ntwo", "involvedObject": {"name": "a"}}
    lines = describe(pod, [event, event]).splitlines()[-6:]
    assert lines == [
        "  Type     Reason  Age              From     Message",
        "  ----     ------  ----             ----     -------",
        "  Warning  Failed  3s (x9 over 2m)  kubelet  one",
        "two",
        "  Warning  Failed  3s (x9 over 2m)  kubelet  one",
        "two",
    ]
