"""Views: facts derived from sections, once for all rules. A rule names a view as it names a section.

A view's parameters name what it needs, like a rule's; it is Missing when one of them is.
"""

from collections.abc import Callable
from typing import Any

from lockgate.diagnosis.views.ailing import ailing
from lockgate.diagnosis.views.by_hand import by_hand
from lockgate.diagnosis.views.claims import claims
from lockgate.diagnosis.views.creation import creation
from lockgate.diagnosis.views.demand import demand
from lockgate.diagnosis.views.devices import devices
from lockgate.diagnosis.views.events_by_object import events_by_object
from lockgate.diagnosis.views.gate_of_pod import gate_of_pod
from lockgate.diagnosis.views.gate_two import gate_two
from lockgate.diagnosis.views.handler import handler
from lockgate.diagnosis.views.hardware import hardware
from lockgate.diagnosis.views.node_words import node_words
from lockgate.diagnosis.views.operands import operands
from lockgate.diagnosis.views.operator_words import operator_words
from lockgate.diagnosis.views.other_scheduler import other_words
from lockgate.diagnosis.views.own_node import own_node
from lockgate.diagnosis.views.own_spec import runtime_class, spec
from lockgate.diagnosis.views.places import places
from lockgate.diagnosis.views.plugin import plugin
from lockgate.diagnosis.views.plugin_configs import plugin_configs
from lockgate.diagnosis.views.pod_events import pod_events, workload_events
from lockgate.diagnosis.views.pod_kinds import pod_kinds
from lockgate.diagnosis.views.pod_logs import pod_logs
from lockgate.diagnosis.views.published import published
from lockgate.diagnosis.views.read_nodes import read_nodes
from lockgate.diagnosis.views.refusals import refusals
from lockgate.diagnosis.views.runtimes import runtimes
from lockgate.diagnosis.views.stacks import stacks
from lockgate.diagnosis.views.struck import struck
from lockgate.diagnosis.views.told_refusal import told_refusal
from lockgate.diagnosis.views.unregistered import unregistered
from lockgate.diagnosis.views.words import words
from lockgate.diagnosis.views.xids import xids

VIEWS: dict[str, Callable[..., Any]] = {
    "ailing": ailing,
    "by_hand": by_hand,
    "claims": claims,
    "creation": creation,
    "demand": demand,
    "devices": devices,
    "events_by_object": events_by_object,
    "gate_one": gate_of_pod,
    "gate_two": gate_two,
    "handler": handler,
    "hardware": hardware,
    "node_words": node_words,
    "operands": operands,
    "operator_words": operator_words,
    "other_words": other_words,
    "own_node": own_node,
    "places": places,
    "plugin": plugin,
    "plugin_configs": plugin_configs,
    "pod_events": pod_events,
    "pod_kinds": pod_kinds,
    "pod_logs": pod_logs,
    "published": published,
    "read_nodes": read_nodes,
    "refusals": refusals,
    "runtime_class": runtime_class,
    "runtimes": runtimes,
    "spec": spec,
    "stacks": stacks,
    "struck": struck,
    "told_refusal": told_refusal,
    "unregistered": unregistered,
    "words": words,
    "workload_events": workload_events,
    "xids": xids,
}
