"""Samples in Prometheus' text format, for a node exporter's textfile collector or a push gateway."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from lockgate.capacity.samples import GAUGES, Sample


def as_prometheus(found: Iterable[Sample]) -> str:
    """Every sample under its gauge."""
    registry = CollectorRegistry()
    gauges = {name: Gauge(name, about.text, about.labels, registry=registry) for name, about in GAUGES.items()}
    for sample in found:
        gauges[sample.name].labels(**sample.labels).set(sample.value)
    return generate_latest(registry).decode()
