"""Lines of a watch: what the API server writes that its own schema forbids."""

from lockgate.kube.resources import DAEMONSETS
from lockgate.kube.watch import parse_line


def test_a_bookmark_is_read_although_its_object_is_empty_in_forbidden_ways() -> None:
    """Seen on Kubernetes 1.37.2: a DaemonSet's bookmark has `"selector": null`."""
    line = (
        b'{"type":"BOOKMARK","object":{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"resourceVersion":"2287"},'
        b'"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{}}}'
    )
    event = parse_line(line, DAEMONSETS, "watch daemonsets")
    assert (event.change, event.object.metadata.resource_version) == ("BOOKMARK", "2287")
