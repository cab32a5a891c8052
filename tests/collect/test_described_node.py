"""What a description of a node sums up: what is requested there, and which pods run there, the plugin's among them."""

import pytest

from lockgate.collect.offline import from_bytes
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import Missing
from lockgate.model.finding import Diagnosis, Verdict
from lockgate.model.told import ToldNode
from lockgate.rules import all_rules

RULES = all_rules()
PLUGIN = "nvidia-device-plugin-daemonset-x7k2q"
# kubectl v1.30 on a node with 8 GPUs; {} are the allocatable, the plugin's row and what is requested.
NODE = """\
Name:               gpu-w-3
Roles:              <none>
Labels:             feature.node.kubernetes.io/pci-10de.present=true
                    nvidia.com/gpu.count=8
                    nvidia.com/gpu.present=true
Taints:             <none>
Unschedulable:      false
Conditions:
  Type    Status  LastHeartbeatTime                LastTransitionTime               Reason        Message
  ----    ------  -----------------                ------------------               ------        -------
  Ready   True    Sat, 29 Nov 2026 10:01:11 +0000  Sat, 01 Nov 2026 10:02:11 +0000  KubeletReady  kubelet is ready
Capacity:
  cpu:             128
  nvidia.com/gpu:  8
  pods:            110
Allocatable:
  cpu:             128
  nvidia.com/gpu:  {allocatable}
  pods:            110
PodCIDR:                      10.244.3.0/24
Non-terminated Pods:          (3 in total)
  Namespace      Name                                   CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------      ----                                   ------------  ----------  ---------------  -------------  ---
  gpu-operator   {plugin}   0 (0%)        0 (0%)      0 (0%)           0 (0%)         27d
  ml             llama-0                                8 (6%)        8 (6%)      64Gi (3%)        64Gi (3%)      2d
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests    Limits
  --------           --------    ------
  cpu                8 (6%)      8 (6%)
  memory             64Gi (3%)   64Gi (3%)
  nvidia.com/gpu     {requested}           {requested}
Events:              <none>
"""
POD = """\
Name:             late
Namespace:        ml
Node:             <none>
Status:           Pending
Containers:
  main:
    Image:      app:1
    Limits:
      nvidia.com/gpu:  2
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  9s    default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.


"""


def node(allocatable: int = 8, requested: int = 4, plugin: str = PLUGIN) -> str:
    return NODE.format(allocatable=allocatable, requested=requested, plugin=plugin)


def ask(text: str, target: str = "node/gpu-w-3") -> Diagnosis:
    return diagnose(from_bytes("-", text.encode()), parse_target(target, "ml"), RULES)


def test_the_sums_and_the_pods_of_a_description_are_read() -> None:
    facts = from_bytes("-", node().encode())
    assert not isinstance(facts.nodes, Missing)
    told = facts.nodes[0]
    assert isinstance(told, ToldNode)
    assert told.requested == {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"}
    assert told.pods == (f"gpu-operator/{PLUGIN}", "ml/llama-0")


@pytest.mark.parametrize(("requested", "headroom"), [(4, 4), (8, 0)])
def test_a_node_whose_devices_are_healthy_is_well(requested: int, headroom: int) -> None:
    answer = ask(node(requested=requested))
    assert answer.verdict is Verdict.HEALTHY
    assert f"requested {requested}, headroom {headroom}" in answer.headline
    assert "daemon sets: a description" in " ".join(f"{n.id}: {n.reason}" for n in answer.not_checked).replace("-", " ")


def test_without_the_plugins_pod_a_node_is_not_called_well() -> None:
    assert ask(node(plugin="amdgpu-device-plugin-daemonset-aaaaa")).verdict is Verdict.UNKNOWN


def test_a_pod_that_waits_for_a_full_node_is_told_what_runs_there() -> None:
    (first, *_) = ask(POD + node(requested=8), "pod/late").findings
    assert first.id == "scheduling/all-held"
    assert f"8 are requested by pods that are not shown (gpu-operator/{PLUGIN}, ml/llama-0 run there)" in first.summary
    command = first.remedy[0].command
    assert command.startswith("kubectl get pods -A --field-selector spec.nodeName=gpu-w-3 -o custom-columns=")
    assert "limits.nvidia\\.com/gpu" in command


def test_of_several_full_nodes_none_is_named_as_the_one_to_look_at() -> None:
    other = node(requested=8).replace("gpu-w-3", "gpu-w-4")
    (first, *_) = ask(POD + node(requested=8) + other, "pod/late").findings
    assert "16 are requested" in first.summary
    assert "spec.nodeName=" not in first.remedy[0].command


def test_a_pod_that_a_node_has_room_for_is_not_called_crowded_out() -> None:
    assert "scheduling/all-held" not in {f.id for f in ask(POD + node(requested=6), "pod/late").findings}
    assert ask(POD + node(requested=7), "pod/late").findings[0].id == "scheduling/all-held"


def test_the_pod_itself_does_not_stand_in_its_own_way() -> None:
    placed = POD.replace("<none>", "gpu-w-3/10.0.0.3").replace("late", "llama-0")
    assert "scheduling/all-held" not in {f.id for f in ask(placed + node(requested=8), "pod/llama-0").findings}


def test_no_healthy_device_and_a_plugin_that_is_there_leave_two_answers() -> None:
    (first, *_) = ask(node(allocatable=0)).findings
    assert (first.id, first.codes) == ("operands/plugin-gone", ("C04", "C07"))
    assert f"Its pod gpu-operator/{PLUGIN} is there, and its state is not shown" in first.summary
    assert f"kubectl logs -n gpu-operator {PLUGIN}" in first.remedy[0].command
