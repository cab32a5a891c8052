"""What was asked becomes what each namespace holds and runs."""

import json
from pathlib import Path

import pytest

from tests.cluster import stock
from tests.cluster.control_plan import control_plan
from tests.cluster.identities import make_identities
from tests.cluster.images import PAUSE
from tests.cluster.node_plan import SimulatedGpus, containerd_links, node_plan
from tests.cluster.programs import Programs
from tests.cluster.programs.table import CONTAINERD, DEBIAN_PROGRAMS, GO_PROGRAMS
from tests.cluster.spec import ControlPlan, Device, Node, NodePlan

GPUS = SimulatedGpus(
    driver_root=Path("/made/driver"),
    pci_devices=Path("/made/pci"),
    devices=(Device("/dev/nvidia0", 195, 0),),
    simulator=("python", "-m", "simulator"),
)


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    folders = {}
    for row in (*GO_PROGRAMS, *DEBIAN_PROGRAMS):
        folders[row.name] = tmp_path / row.name
        for output in row.outputs:
            (tmp_path / row.name / output).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / row.name / output).touch()
    return Programs(folders)


def node(programs: Programs, asked: Node, index: int = 0, gpus: SimulatedGpus | None = None) -> NodePlan:
    return node_plan(
        asked,
        index,
        2,
        cluster="c1",
        folder=Path("/c1/nodes") / asked.name,
        programs=programs,
        identities=make_identities(),
        gpus=gpus,
        visible=(Path("/repository"),),
    )


def argv(planned: NodePlan | ControlPlan, name: str) -> tuple[str, ...]:
    return next(program.argv for program in planned.programs if program.name == name)


def test_each_containerd_family_has_programs_and_a_stock_configuration(programs: Programs) -> None:
    assert set(CONTAINERD) == set(stock.CONTAINERD_CONFIG)
    for release in CONTAINERD:
        links = containerd_links(release, programs)
        assert set(links) == {"/usr/bin/containerd", "/usr/bin/containerd-shim-runc-v2", "/usr/bin/ctr"}
        assert all(Path(target).exists() for target in links.values())
        assert PAUSE in stock.CONTAINERD_CONFIG[release]


def test_an_unknown_containerd_names_those_there_are(programs: Programs) -> None:
    with pytest.raises(ValueError, match=r'no containerd "0\.9" in the table; there is 1\.7, 2\.1, 2\.4'):
        programs.containerd("0.9")


def test_nodes_differ_in_address_pod_subnet_and_cgroup(programs: Programs) -> None:
    first, second = node(programs, Node("a")), node(programs, Node("b"), index=1)
    assert "--node-ip=10.99.0.11" in argv(first, "kubelet")
    assert "--node-ip=10.99.0.12" in argv(second, "kubelet")
    assert "10.244.0.0/24" in first.files["/etc/cni/net.d/10-pods.conflist"]
    assert "10.244.1.0/24" in second.files["/etc/cni/net.d/10-pods.conflist"]
    assert json.loads(second.files["/var/lib/kubelet/config.yaml"])["cgroupRoot"] == "/c1/b"
    assert "route add 10.244.1.0/24 via 10.99.0.12" in first.network


def test_a_node_without_gpus_has_no_driver_and_no_simulator(programs: Programs) -> None:
    planned = node(programs, Node("a"))
    assert [program.name for program in planned.programs] == ["containerd", "kubelet", "kube-proxy"]
    assert not planned.devices
    assert not planned.trees


def test_a_node_with_gpus_gets_driver_devices_pci_tree_and_simulator(programs: Programs) -> None:
    planned = node(programs, Node("a", gpus="2xT4"), gpus=GPUS)
    assert planned.trees == {"/run/nvidia/driver": "/made/driver"}
    assert planned.binds["/sys/bus/pci/devices"] == "/made/pci"
    assert planned.devices == GPUS.devices
    assert argv(planned, "simulator") == GPUS.simulator


def test_taints_and_overrides_reach_the_kubelet(programs: Programs) -> None:
    asked = Node("a", taints=("nvidia.com/gpu=present:NoSchedule", "x:NoExecute"), kubelet={"maxPods": 5})
    config = json.loads(node(programs, asked).files["/var/lib/kubelet/config.yaml"])
    assert config["maxPods"] == 5
    assert config["registerWithTaints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "x", "value": "", "effect": "NoExecute"},
    ]


def test_what_needs_the_api_server_waits_for_the_keeper(programs: Programs) -> None:
    at_once = {program.name for program in node(programs, Node("a")).programs if program.autostart}
    assert at_once == {"containerd"}
    control = control_plan(Path("/c1/control"), 2, programs)
    assert {program.name for program in control.programs if program.autostart} == {"etcd", "kube-apiserver"}


def test_the_control_plane_listens_on_its_own_network_only(programs: Programs) -> None:
    control = control_plan(Path("/c1/control"), 2, programs)
    addresses = [word for program in control.programs for word in program.argv if "bind-address" in word]
    assert set(addresses) == {"--bind-address=10.99.0.1", "--bind-address=127.0.0.1"}
    assert "--authorization-mode=Node,RBAC" in argv(control, "kube-apiserver")
    assert "--anonymous-auth=false" in argv(control, "kube-apiserver")
