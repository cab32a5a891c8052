"""An Event reads the same by either API: core/v1 and events.k8s.io/v1, whose old fields have other names."""

import msgspec
import pytest

from lockgate.model.objects import Event

_ABOUT = {"kind": "Pod", "namespace": "default", "name": "x"}
_CORE = {"involvedObject": _ABOUT, "message": "no", "count": 4, "lastTimestamp": "2026-11-29T12:00:00Z"}
_NEW = {"regarding": _ABOUT, "note": "no", "series": {"count": 4, "lastObservedTime": "2026-11-29T12:00:00Z"}}
_OLD_BY_NEW = {
    "regarding": _ABOUT,
    "note": "no",
    "eventTime": None,
    "deprecatedCount": 4,
    "deprecatedLastTimestamp": "2026-11-29T12:00:00Z",
}


@pytest.mark.parametrize("given", [_CORE, _NEW, _OLD_BY_NEW])
def test_an_event_reads_the_same_by_either_api(given: dict[str, object]) -> None:
    event = msgspec.convert(given, Event)
    assert (event.about.name, event.text, event.times) == ("x", "no", 4)
    assert event.last_seen is not None
    assert event.last_seen.isoformat() == "2026-11-29T12:00:00+00:00"


def test_an_event_without_a_count_happened_nobody_knows_how_often() -> None:
    assert Event().times == 0


@pytest.mark.parametrize("name", ["source", "deprecatedSource"])
def test_the_node_of_its_writer_is_read_by_either_api(name: str) -> None:
    assert msgspec.convert({name: {"component": "kubelet", "host": "gpu-7"}}, Event).host == "gpu-7"
