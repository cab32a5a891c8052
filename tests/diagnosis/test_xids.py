"""Whose GPU an XID was on, by whatever tells it, and which XIDs are past."""

import msgspec
import yaml

from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.subject import Facts, Subject
from lockgate.diagnosis.views.xids import Xids
from lockgate.diagnosis.xid_told import NodeXid
from lockgate.model.facts import Reading
from tests.rules.world import snapshot

FACTS = """
nodes: {gpu-a: {}}
pods:
  ml/a: {like: running, metadata: {uid: u-a}, spec: {nodeName: gpu-a}}
  ml/b: {like: running, metadata: {uid: u-b}, spec: {nodeName: gpu-a}}
  web/c: {like: running, spec: {nodeName: gpu-a, containers: [{name: main}]}}
files:
  gpu-a:
    dmesg: |
      NVRM: GPU at PCI:0000:3b:00: GPU-1
      NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
"""
RECORD = '{"Data":{"PodDeviceEntries":[{"PodUID":"u-b","ResourceName":"nvidia.com/gpu","DeviceIDs":{"0":["GPU-1"]}}]}}'


def only(more: str = "{}", readings: tuple[Reading, ...] = ()) -> NodeXid:
    """The one XID of the node, with more facts."""
    facts = yaml.safe_load(FACTS)
    for key, value in yaml.safe_load(more).items():
        facts[key] = {**facts.get(key, {}), **value} if key != "files" else {"gpu-a": {**facts[key]["gpu-a"], **value}}
    known = msgspec.structs.replace(snapshot(facts), readings=readings)
    seen: Xids = Facts(known, Subject(stage=Stage.CLUSTER)).get("xids")
    (xid,) = seen.on("gpu-a")
    return xid


def test_without_a_record_every_pod_with_a_gpu_may_be_meant() -> None:
    xid = only()
    assert (xid.holders.pods, xid.holders.known) == (("ml/a", "ml/b"), False)


def test_the_kubelets_record_names_the_pod() -> None:
    path = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
    xid = only(f"files: {{{path}: '{RECORD}'}}")
    assert (xid.holders.pods, xid.holders.known) == (("ml/b",), True)


def test_the_exporter_names_the_pod() -> None:
    xid = only(readings=(Reading(node="gpu-a", device="GPU-1", namespace="ml", pod="a"),))
    assert (xid.holders.pods, xid.holders.known) == (("ml/a",), True)


def test_what_the_exporter_says_of_another_gpu_names_nobody() -> None:
    assert not only(readings=(Reading(node="gpu-a", device="GPU-2", namespace="ml", pod="a"),)).holders.known


def test_a_gpu_that_its_plugin_has_in_use_again_is_past() -> None:
    well = "node_states: {gpu-a: {status: {devices: {registered: true, devices: [{uuid: GPU-1, healthy: %s}]}}}}"
    assert [only(well % healthy).past for healthy in ("true", "false")] == [True, False]


def test_the_log_and_the_plugin_tell_of_one_xid() -> None:
    told = "node_states: {gpu-a: {status: {devices: {devices: [{uuid: GPU-1, healthy: false, reason: 'XID 79: x'}]}}}}"
    xid = only(told)
    assert (xid.uuid, xid.bus, xid.active, len(xid.evidence)) == ("GPU-1", "0000:3b:00", True, 2)


def test_a_line_that_an_agent_repeats_as_an_event_is_read() -> None:
    facts = {"nodes": {"gpu-a": {}}, "said": [{"about": "node/gpu-a", "reason": "XidError", "message": LINE}]}
    seen: Xids = Facts(snapshot(facts), Subject(stage=Stage.CLUSTER)).get("xids")
    assert [(x.code.number, x.bus) for x in seen.on("gpu-a")] == [(48, "0000:3b:00")]


LINE = "kernel: NVRM: Xid (PCI:0000:3b:00): 48, pid='<unknown>', name=<unknown>, DBE"


DRIVER = """
pods:
  gpu-operator/nvidia-driver-x:
    {like: plugin, metadata: {labels: {app: nvidia-driver-daemonset}}, spec: {nodeName: gpu-a}}
logs:
  gpu-operator/nvidia-driver-x/nvidia-driver-ctr: |
    [ 9.0] NVRM: Xid (PCI:0000:3b:00): %s
"""


def test_what_the_drivers_log_repeats_of_the_kernels_is_counted_once() -> None:
    again = only(DRIVER % "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
    assert (again.count, [e.file for e in again.evidence]) == (1, ["gpu-a:dmesg"])
    later = only(DRIVER % "79, pid=12, name=python, GPU has fallen off the bus, once more.")
    assert (later.count, later.evidence[-1].object) == (2, "log of nvidia-driver-x/nvidia-driver-ctr")


PLUGIN = """
files: {dmesg: ""}
pods:
  gpu-operator/plugin-x:
    like: plugin
    spec: {nodeName: gpu-a}
    status: {containerStatuses: [{name: p, ready: true, lastState: {terminated: {finishedAt: "2026-11-29T09:20:00Z"}}}]}
logs:
  gpu-operator/plugin-x/p.previous: "XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy."
"""


def test_an_xid_of_a_run_that_is_over_knows_when_that_ended() -> None:
    (run,) = (only(PLUGIN).run,)
    assert run is not None
    assert (run.container, f"{run.ended:%H:%M}") == ("p", "09:20")


def test_an_xid_that_the_kernel_or_a_run_that_goes_on_tells_too_is_of_no_run() -> None:
    assert only(PLUGIN.replace('files: {dmesg: ""}', "")).run is None
    now = '  gpu-operator/plugin-x/p: "XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy."\n'
    assert only(PLUGIN + now).run is None


def test_an_sxid_is_told_once_and_by_the_run_that_goes_on() -> None:
    line = "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
    facts = yaml.safe_load(DRIVER % "13, x")
    facts["logs"] = {f"gpu-operator/nvidia-driver-x/nvidia-driver-ctr{end}": line for end in (".previous", "")}
    facts |= {"nodes": {"gpu-a": {}}, "said": [{"about": "node/gpu-a", "reason": "Switch", "message": line}]}
    seen: Xids = Facts(snapshot(facts), Subject(stage=Stage.CLUSTER)).get("xids")
    (sxid,) = seen.switches_on("gpu-a")
    assert (sxid.line.code, sxid.run, sxid.evidence.object) == (
        20034,
        None,
        "log of nvidia-driver-x/nvidia-driver-ctr",
    )
