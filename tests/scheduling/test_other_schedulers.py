"""Texts of schedulers other than kube-scheduler, as reports and sources have them."""

import pytest

from lockgate.scheduling.other_schedulers import Refusal, parse_other

_TEXTS = [
    (
        "Non-preemptible workload is over quota. Workload requested 4 GPUs, but team-a quota is 2 GPUs, while 1 GPUs "
        "are already allocated for non-preemptible pods. Use a preemptible workload to go over quota.",
        ("KAI", Refusal.QUOTA),
        "queue team-a has a quota of 2 GPUs, 1 are in use by work that cannot be preempted, and it asks for 4",
    ),
    (
        "no nodes with enough resources were found: 1 node(s) didn't have enough resources: GPUs",
        ("KAI", Refusal.DEVICES),
        "1 node has too few GPUs left",
    ),
    (
        "2 node(s) didn't have enough of mig profile: nvidia.com/mig-1g.5gb",
        ("KAI", Refusal.DEVICES),
        "no node has a MIG device nvidia.com/mig-1g.5gb left",
    ),
    (
        "0/2 nodes are unavailable: 2 queue resource quota insufficient.",
        ("Volcano", Refusal.QUOTA),
        "its queue has used up what it may have",
    ),
    (
        "3/4 tasks in gang unschedulable: pod group is not ready, 4 minAvailable, 4 Pending.",
        ("Volcano", Refusal.GANG),
        "3 of 4 pods of its group fit nowhere, so none of them is placed "
        "(pod group is not ready, 4 minAvailable, 4 Pending)",
    ),
    (
        "pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 Unschedulable",
        ("Volcano", Refusal.GANG),
        "its group is placed only when 4 of its pods fit at once (4 Pending, 4 minAvailable; Pending: 4 Unschedulable)",
    ),
    (
        "1/4 CardInsufficientMemory, 3/4 CardTypeMismatch",
        ("HAMi", Refusal.DEVICES),
        "no card fits (CardInsufficientMemory)",
    ),
    (
        "no available node, 3 nodes do not meet",
        ("HAMi", Refusal.DEVICES),
        "none of 3 nodes has a card that fits",
    ),
]


@pytest.mark.parametrize(("text", "who", "means"), _TEXTS)
def test_a_text_is_sorted_and_said_in_plain_words(text: str, who: tuple[str, Refusal], means: str) -> None:
    seen = parse_other(text)
    assert seen is not None
    assert ((seen.scheduler, seen.about), seen.means) == (who, means)
    assert seen.words in text


@pytest.mark.parametrize("text", ["", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", "queue is full"])
def test_other_words_are_nobodys(text: str) -> None:
    assert parse_other(text) is None
