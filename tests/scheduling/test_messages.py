"""The scheduler's texts of many releases, read and written again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.scheduling.causes import Cause
from lockgate.scheduling.messages import (
    parse_failed_scheduling,
    parse_scale_up,
    render_fit_error,
    render_preemption,
)

GPU = "nvidia.com/gpu"


def test_the_text_of_1_37() -> None:
    seen = parse_failed_scheduling(
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: "
        "2 No preemption victims found for incoming pod."
    )
    assert seen is not None
    assert (seen.nodes, seen.insufficient(GPU), seen.insufficient("cpu")) == (2, 2, 0)
    assert seen.preemption is not None
    assert (seen.preemption.nodes, seen.preemption.victims_missing, seen.preemption.not_helpful) == (2, 2, 0)


def test_a_text_of_1_25_with_taints_in_braces_and_double_dots() -> None:
    seen = parse_failed_scheduling(
        "0/13 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }, "
        "10 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint {team: a,b: 3 c}. preemption: 0/13 nodes are "
        "available: 10 No preemption victims found for incoming pod., 3 Preemption is not helpful for scheduling.."
    )
    assert seen is not None
    assert [(r.count, r.cause) for r in seen.reasons] == [(1, Cause.TAINT), (10, Cause.INSUFFICIENT), (2, Cause.TAINT)]
    assert seen.reasons[0].taint == ("node.kubernetes.io/unschedulable", "")
    assert seen.reasons[2].taint == ("team", "a,b: 3 c")
    assert seen.preemption is not None
    assert (seen.preemption.victims_missing, seen.preemption.not_helpful) == (10, 3)


def test_a_taint_of_1_20_whose_reason_holds_a_comma() -> None:
    seen = parse_failed_scheduling(
        "0/4 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't "
        "tolerate, 3 Insufficient nvidia.com/gpu."
    )
    assert seen is not None
    assert [r.count for r in seen.reasons] == [1, 3]
    assert seen.reasons[0].taint == ("node-role.kubernetes.io/master", "")
    assert seen.preemption is None


def test_a_prefilter_message_stands_for_all_nodes() -> None:
    seen = parse_failed_scheduling(
        "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are "
        "available: 3 Preemption is not helpful for scheduling."
    )
    assert seen is not None
    assert seen.prefilter == "pod has unbound immediate PersistentVolumeClaims"
    assert (seen.prefilter_cause, seen.reasons) == (Cause.VOLUME, ())
    assert seen.preemption is not None and seen.preemption.not_helpful == 3


def test_notes_of_other_plugins_are_kept() -> None:
    seen = parse_failed_scheduling(
        "0/2 nodes are available: 2 cannot allocate all claims. no new claims to deallocate, preemption: 0/2 nodes "
        "are available: 2 Preemption is not helpful for scheduling."
    )
    assert seen is not None
    assert seen.count(Cause.DEVICE_CLAIM) == 2
    assert seen.notes == ("no new claims to deallocate",)
    assert seen.preemption is not None and seen.preemption.not_helpful == 2


def test_a_preemption_part_that_is_a_sentence() -> None:
    seen = parse_failed_scheduling(
        "0/1 nodes are available: 1 Too many pods. preemption: not eligible due to preemptionPolicy=Never.."
    )
    assert seen is not None and seen.preemption is not None
    assert seen.count(Cause.TOO_MANY_PODS) == 1
    assert (seen.preemption.text, seen.preemption.nodes) == ("not eligible due to preemptionPolicy=Never", None)


def test_a_reason_nobody_knows_keeps_its_words_and_count() -> None:
    seen = parse_failed_scheduling("0/7 nodes are available: 3 node(s) were on fire, 4 Insufficient cpu.")
    assert seen is not None
    assert (seen.reasons[0].text, seen.reasons[0].count) == ("node(s) were on fire", 3)
    assert seen.reasons[0].cause is Cause.UNKNOWN


def test_a_text_cut_by_the_event_recorder_says_so() -> None:
    seen = parse_failed_scheduling("0/900 nodes are available: 12 Insufficient cpu, 3 node(s) had untolerated tai ...")
    assert seen is not None
    assert seen.truncated
    assert seen.insufficient("cpu") == 12


def test_a_cluster_without_nodes() -> None:
    seen = parse_failed_scheduling("no nodes available to schedule pods")
    assert seen is not None and (seen.nodes, seen.reasons) == (0, ())


@pytest.mark.parametrize("text", ["", "Successfully assigned a/b to c", "error: exec", "0/x nodes are available: "])
def test_other_texts_are_not_read(text: str) -> None:
    assert parse_failed_scheduling(text) is None


def test_the_autoscaler_says_why_no_group_helps() -> None:
    seen = parse_scale_up(
        "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 2 Insufficient nvidia.com/gpu, "
        "1 max node group size reached, 1 node(s) had untolerated taint {sku: gpu}"
    )
    assert seen is not None
    assert [r.cause for r in seen.reasons] == [Cause.INSUFFICIENT, Cause.GROUP_SIZE, Cause.TAINT]
    assert parse_scale_up("pod didn't trigger scale-up: ") is not None
    assert parse_scale_up("pod triggered scale-up: [{a 1->2 (max: 3)}]") is None


def test_counts_are_written_sorted_as_strings() -> None:
    counts = {"Insufficient cpu": 2, "Insufficient nvidia.com/gpu": 10, "node(s) were unschedulable": 1}
    assert render_fit_error(13, counts, postfilter=render_preemption(13, {"x": 13})) == (
        "0/13 nodes are available: 1 node(s) were unschedulable, 10 Insufficient nvidia.com/gpu, 2 Insufficient cpu. "
        "preemption: 0/13 nodes are available: 13 x."
    )


REASONS = st.sampled_from(
    [
        "Too many pods",
        "Insufficient cpu",
        "Insufficient nvidia.com/mig-1g.5gb",
        "node(s) had untolerated taint(s)",
        "node(s) had untolerated taint {a.b/c: d, 1 e}",
        "node(s) didn't match pod topology spread constraints (missing required label)",
        "node(s) had a cause, that nobody knows",
    ]
)
COUNTS = st.dictionaries(REASONS, st.integers(1, 9999), min_size=1)


@given(nodes=st.integers(1, 9999), counts=COUNTS, victims=COUNTS)
def test_what_is_written_reads_back_the_same(nodes: int, counts: dict[str, int], victims: dict[str, int]) -> None:
    seen = parse_failed_scheduling(render_fit_error(nodes, counts, postfilter=render_preemption(nodes, victims)))
    assert seen is not None and seen.preemption is not None
    assert {r.text: r.count for r in seen.reasons} == counts
    assert {r.text: r.count for r in seen.preemption.reasons} == victims


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    parse_failed_scheduling(text)
    parse_failed_scheduling(f"0/3 nodes are available: {text}")
    parse_scale_up(f"pod didn't trigger scale-up: {text}")
