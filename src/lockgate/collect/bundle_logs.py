"""Whose logs go into a bundle: operands, and GPU pods that do not run well. Other programs' are nobody's business."""

from collections.abc import Iterable

from lockgate.collect.narrowed import is_asked_for
from lockgate.collect.operand_logs import Run, is_operand, is_operator
from lockgate.model import names
from lockgate.model.narrowing import Narrowing
from lockgate.model.objects import Pod
from lockgate.model.pod_state import is_ready


def telling_runs(pods: Iterable[Pod], asked: Narrowing) -> list[Run]:
    """Every run of their containers: first of the pods that were asked for, and of each those that are not well."""
    telling = sorted((p for p in pods if _is_telling(p, asked)), key=lambda p: (_is_beside(p, asked), is_ready(p)))
    return [run for pod in telling for run in _runs(pod)]


def _is_telling(pod: Pod, asked: Narrowing) -> bool:
    if is_operand(pod) or is_operator(pod):
        return True
    asks = any(names.is_gpu_resource(r) for c in pod.spec.containers for r in c.resources.limits)
    return asks and not is_ready(pod) and is_asked_for(pod, asked)


def _is_beside(pod: Pod, asked: Narrowing) -> bool:
    return not asked.is_whole and not is_asked_for(pod, asked)


def _runs(pod: Pod) -> Iterable[Run]:
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if status.state.running or status.state.terminated:
            yield Run(pod, status.name)
        if status.restart_count:
            yield Run(pod, status.name, previous=True)
