"""Readings of a live cluster: each exporter's metrics, asked through the API server's proxy to its pod.

An exporter that does not answer leaves its node without readings; a right that lacks makes the section Missing.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from lockgate.collect.exporter import parse_readings
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Forbidden
from lockgate.model.facts import Missing, Reading
from lockgate.model.objects import Pod

_APP_LABELS: Final = ("app", "app.kubernetes.io/name")
_PORT: Final = 9400
_AT_ONCE: Final = 16


async def read_readings(api: Api, pods: Any) -> tuple[Reading, ...] | Missing:
    """What all exporters among these pods publish."""
    if isinstance(pods, Missing):
        return pods
    exporters = [pod for pod in pods if is_exporter(pod) and pod.status.phase == "Running"]
    if not exporters:
        return Missing("no pod of a dcgm-exporter runs", "enable it in the ClusterPolicy: spec.dcgmExporter.enabled")
    gate = asyncio.Semaphore(_AT_ONCE)
    answers = await asyncio.gather(*(_readings(api, pod, gate) for pod in exporters))
    return _joined(answers)


def is_exporter(pod: Pod) -> bool:
    """Whether a pod is a dcgm-exporter, NVIDIA's, Google's or one of its own chart."""
    return any(pod.metadata.labels.get(label, "").endswith("dcgm-exporter") for label in _APP_LABELS)


def _joined(answers: Iterable[tuple[Reading, ...] | Missing]) -> tuple[Reading, ...] | Missing:
    """All readings; Missing only where no exporter at all could be read."""
    answers = list(answers)
    read = [answer for answer in answers if not isinstance(answer, Missing)]
    failed = next((answer for answer in answers if isinstance(answer, Missing)), None)
    return failed if failed and not read else tuple(reading for answer in read for reading in answer)


async def _readings(api: Api, pod: Pod, gate: asyncio.Semaphore) -> tuple[Reading, ...] | Missing:
    async with gate:
        try:
            text = await api.through_pod(pod.namespace, pod.name, _port(pod), "metrics")
            return parse_readings(pod.spec.node_name, text)
        except Forbidden as error:
            return Missing(str(error), f"RBAC: get on pods/proxy in namespace {pod.namespace}")
        except ApiError as error:
            return Missing(str(error), f"kubectl logs -n {pod.namespace} {pod.name}")
        except ValueError as error:
            return Missing(f"pod {pod.namespace}/{pod.name} publishes what is no metrics text: {error}")


def _port(pod: Pod) -> int:
    ports = [port.container_port for container in pod.spec.containers for port in container.ports]
    return _PORT if _PORT in ports or not ports else ports[0]
