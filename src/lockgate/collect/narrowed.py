"""What a bundle for some pods alone holds: their events, those about nodes, those of operands, and whole lists.

Which other pods fail, and with which texts, is nobody's business then; what nodes and operands say strikes everybody.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.model.facts import Missing
from lockgate.model.label_query import Labels
from lockgate.model.narrowing import Narrowing
from lockgate.model.objects import CronJob, DaemonSet, Event, Pod, Workload

_OF_NODES: Final = "involvedObject.kind=Node"


class Listed(msgspec.Struct, frozen=True):
    """A section, or why there is none; `others` is why only what was asked for could be read."""

    found: tuple[Any, ...] | Missing
    others: Missing | None = None


async def listed(read: Reader, resource: kinds.Resource[Any], namespace: str) -> Listed:
    """A whole list; where that is refused, of the namespace that was asked for alone."""
    found = await read.list(resource)
    if not (isinstance(found, Missing) and found.refused and resource.namespaced and namespace):
        return Listed(found)
    own = await read.list(resource, namespace)
    return Listed(found) if isinstance(own, Missing) else Listed(own, others=found)


def is_asked_for(each: Any, asked: Narrowing) -> bool:
    """Whether an object is, or makes, a pod that was asked for, and not merely one of an operand beside them."""
    labels = _labels(each)
    return labels is not None and asked.without_operands.covers(each.namespace, labels)


async def told_events(read: Reader, asked: Narrowing, pods: Iterable[Pod]) -> Listed:
    """The events about pods that were asked for, about nodes, and of the operands' namespaces."""
    if not asked.namespace:
        every = await read.list(kinds.EVENTS)
        return Listed(every if isinstance(every, Missing) else _only(every, asked, pods))
    own, of_nodes, *theirs = await asyncio.gather(
        read.list(kinds.EVENTS, asked.namespace),
        read.list(kinds.EVENTS, field_selector=_OF_NODES),
        *(read.list(kinds.EVENTS, namespace) for namespace in asked.besides if namespace != asked.namespace),
    )
    if isinstance(own, Missing):
        return Listed(own)
    beside = [found for found in (of_nodes, *theirs) if not isinstance(found, Missing)]
    lacking = next((found for found in (of_nodes, *theirs) if isinstance(found, Missing)), None)
    every = {(e.namespace, e.name): e for found in (own, *beside) for e in found}
    return Listed(_only(every.values(), asked, pods), lacking)


def _only(events: Iterable[Event], asked: Narrowing, pods: Iterable[Pod]) -> tuple[Event, ...]:
    """Without those about pods that have other labels, or are not there any more."""
    covered = {(p.namespace, p.name) for p in pods if asked.covers(p.namespace, p.metadata.labels)}
    return tuple(e for e in events if not asked.selector or e.about.kind != "Pod" or _place(e) in covered)


def _place(event: Event) -> tuple[str, str]:
    return event.about.namespace or event.namespace, event.about.name


def _labels(each: Any) -> Labels | None:
    """The labels of the pods that an object is or makes; None where it has nothing to do with pods."""
    match each:
        case Pod():
            return each.metadata.labels
        case CronJob():
            return each.spec.job_template.spec.template.metadata.labels
        case Workload() | DaemonSet():
            return each.spec.template.metadata.labels
        case _:
            return None
