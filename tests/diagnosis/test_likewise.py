"""What several nodes have alike is told once: of all of them, with what to do on each."""

import msgspec

from lockgate.diagnosis.merge import joined
from lockgate.model.finding import Finding, Remedy, Severity


def _finding(node: str, said: str, *steps: tuple[str, str], about: str = "") -> Finding:
    return Finding(
        id="nodes/x",
        codes=(),
        title="x",
        severity=Severity.ERROR,
        about=about or f"node/{node}",
        summary=f"{node}: {said}",
        remedy=tuple(Remedy(text, command) for text, command in steps),
    )


def test_nodes_with_the_same_words_share_a_sentence() -> None:
    assert joined([_finding("n1", "is silent."), _finding("n2", "is silent.")]).summary == "n1, n2: is silent."


def test_nodes_with_words_of_their_own_are_named_behind_the_first() -> None:
    every = [_finding(name, f"its pod p-{name} crashes.") for name in ("n1", "n2", "n3", "n4", "n5", "n6")]
    assert joined(every).summary == "n1: its pod p-n1 crashes. The same fault on n2, n3, n4, n5 and 1 more."


def test_a_step_says_on_which_other_nodes_it_is_due() -> None:
    every = [_finding(n, "", (f"On {n}, look", "journalctl"), ("Edit the policy", "edit")) for n in ("n1", "n2")]
    assert [r.text for r in joined(every).remedy] == ["On n1, look (likewise for n2)", "Edit the policy"]


def test_a_step_whose_command_names_a_pod_of_the_node_is_due_on_the_others_too() -> None:
    every = [_finding(n, "", ("Read the log", f"kubectl logs p-{n}")) for n in ("n1", "n2")]
    assert [r.text for r in joined(every).remedy] == ["Read the log (likewise for n2)"]


def test_a_step_that_only_another_node_needs_is_told_too() -> None:
    every = [_finding("n1", "", ("Read the log", "a")), _finding("n2", "", ("Add the toleration", "b"))]
    assert [r.text for r in joined(every).remedy] == ["Read the log", "Add the toleration"]


def test_a_node_that_wants_another_step_has_its_own_sentence() -> None:
    label, operator = ("Take the label of {} away", "kubectl label {}"), ("See whether the operator runs", "get")
    every = [
        _finding("n1", "a person keeps it off.", (label[0].format("n1"), label[1].format("n1"))),
        _finding("n2", "the label is absent.", operator),
        _finding("n3", "a person keeps it off.", (label[0].format("n3"), label[1].format("n3"))),
    ]
    answer = joined(every)
    assert answer.summary == "n1, n3: a person keeps it off. n2: the label is absent."
    assert [r.text for r in answer.remedy] == ["Take the label of n1 away (likewise for n3)", operator[0]]


def test_many_nodes_that_all_want_something_else_are_counted() -> None:
    every = [_finding(f"n{i}", f"x{i}.", (f"Step {i}", "")) for i in range(20)]
    answer = joined(every)
    assert answer.summary == "n0: x0. n1: x1. n2: x2. And 17 more nodes."
    assert len(answer.remedy) == 8


def _of_operand(name: str, said: str) -> Finding:
    return _finding(name, said, about=f"daemonset/gpu-operator/nvidia-{name}")


def test_operands_with_the_same_words_share_a_sentence_and_all_are_named() -> None:
    every = [_of_operand(f"o{i}", "DESIRED 0, kept from gpu-a.") for i in range(7)]
    assert joined(every).summary == "o0, o1, o2, o3, o4, o5, o6: DESIRED 0, kept from gpu-a."


def test_operands_with_words_of_their_own_are_named_behind_the_first() -> None:
    every = [_of_operand(name, f"the node has {name}=false.") for name in ("gfd", "dcgm", "mig")]
    assert joined(every).summary == "gfd: the node has gfd=false. The same holds for dcgm, mig."


def test_an_operand_whose_sentence_does_not_begin_with_it_stays_as_it_is() -> None:
    every = [msgspec.structs.replace(_of_operand(name, ""), summary="It sets A.") for name in ("x", "y")]
    assert joined(every).summary == "It sets A."


def test_what_is_about_pods_or_one_node_stays_as_it_is() -> None:
    pod = _finding("p", "crashes.", about="pod/x/p")
    assert joined([pod, _finding("q", "crashes.", about="pod/x/q")]).summary == "p: crashes."
    assert joined([_finding("n1", "is silent."), _finding("n1", "is silent.")]).summary == "n1: is silent."
