"""What is said about a pod and on a node, found in the order in which it counts."""

import re

from lockgate.diagnosis.views.node_words import node_words
from lockgate.diagnosis.views.operands import operands
from lockgate.diagnosis.views.pod_kinds import PodKinds
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.views.words import words
from lockgate.model.facts import Log, Missing, NodeFiles
from lockgate.model.objects import (
    Condition,
    ContainerState,
    ContainerStatus,
    Event,
    Metadata,
    ObjectReference,
    Pod,
    PodStatus,
    StateTerminated,
)

NONE = PodLogs(())
LOST = re.compile(r"GPU (?P<what>\w+)")


def pod(message: str = "") -> Pod:
    ended = ContainerState(terminated=StateTerminated(reason="Error", message=message, exit_code=1))
    status = PodStatus(container_statuses=(ContainerStatus(name="main", state=ended),))
    return Pod(metadata=Metadata(name="x", namespace="ml"), status=status)


def said(text: str, field_path: str = "") -> Event:
    return Event(message=text, involved_object=ObjectReference(kind="Pod", name="x", field_path=field_path))


def test_a_containers_state_speaks_before_events_and_logs() -> None:
    found = words(pod("GPU a"), (said("GPU b"),), PodLogs((Log("ml", "x", "main", "GPU c"),))).find(LOST)
    assert found is not None
    assert (found.match["what"], found.container) == ("a", "main")
    assert found.evidence.field == "status.containerStatuses[main].state.terminated"


def test_the_newest_event_speaks_and_names_its_container() -> None:
    found = words(pod(), (said("GPU a"), said("GPU b", "spec.containers{side}")), NONE).find(LOST)
    assert found is not None
    assert (found.match["what"], found.container) == ("b", "side")


def test_the_last_line_of_the_present_run_speaks_for_the_logs() -> None:
    old, now = Log("ml", "x", "main", "GPU old", previous=True), Log("ml", "x", "main", "GPU a\n GPU b \nother")
    found = words(pod(), Missing("no events"), PodLogs((old, now))).find(LOST)
    assert found is not None
    assert (found.evidence.verbatim, found.evidence.object) == ("GPU b", "log of x/main")


def test_of_a_pod_that_is_ready_only_what_it_says_now_counts() -> None:
    ready = Pod(
        metadata=Metadata(name="x", namespace="ml"),
        status=PodStatus(
            conditions=(Condition(type="Ready", status="True"),),
            container_statuses=(
                ContainerStatus(name="main", last_state=pod("GPU a").status.container_statuses[0].state),
            ),
        ),
    )
    before = Log("ml", "x", "main", "GPU old", previous=True)
    assert words(ready, (said("GPU b"),), PodLogs((before,))).find(LOST) is None
    assert words(ready, (), PodLogs((before, Log("ml", "x", "main", "GPU now")))).find(LOST) is not None


def test_what_the_program_itself_says_can_be_left_out() -> None:
    logs = PodLogs((Log("ml", "x", "main", "GPU a"),))
    assert words(pod(), (), logs).find_outside_logs(LOST) is None
    assert words(pod("GPU b"), (), logs).find_outside_logs(LOST) is not None


def test_what_other_pods_say_is_not_heard() -> None:
    assert (
        words(pod(), (), PodLogs((Log("ml", "y", "main", "GPU a"), Log("other", "x", "main", "GPU a")))).find(LOST)
        is None
    )


def test_a_pattern_that_stands_first_wins_over_a_nearer_text() -> None:
    found = words(pod("GPU a"), (said("bus b"),), NONE).find(re.compile("bus"), LOST)
    assert found is not None
    assert found.evidence.verbatim == "bus b"


def test_the_kernels_newest_line_is_found_with_its_number() -> None:
    files = (NodeFiles("gpu-a", {}, {"dmesg": "GPU one\nGPU two\nnothing", "kubelet": "GPU of the kubelet"}),)
    seen = node_words(files, operands(PodKinds(()), (), ()), Missing("no logs")).find_in_kernel("gpu-a", LOST)
    assert seen is not None
    assert (seen.evidence.file, seen.evidence.line, seen.evidence.verbatim) == ("gpu-a:dmesg", 2, "GPU two")
