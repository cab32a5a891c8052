"""The toolkit's DaemonSet on nodes of each container runtime: what it is told, and which folders it gets."""

import pytest

from lockgate.model.policy import parse_spec
from lockgate.operands import container_toolkit
from lockgate.operands.container_toolkit import MAIN
from lockgate.operands.context import Context
from tests.operands.rendered import Shape, shape

IMAGE = "docker.io/lockgate/lockgate:0.1.0"


def rendered(runtime: str, **toolkit: object) -> Shape:
    context = Context(spec=parse_spec({"toolkit": toolkit}), namespace="gpu-operator", image=IMAGE, runtime=runtime)
    assert container_toolkit.refusal(context) == ""
    daemonset = next(m for m in container_toolkit.desired(context) if m["kind"] == "DaemonSet")
    return shape(daemonset)


def paths(found: Shape) -> dict[str, str]:
    """Folder of the node -> where the toolkit finds it, of those that belong to a runtime."""
    return {name: path for name, path in found["volumes"].items() if name.startswith(("containerd", "crio", "docker"))}


@pytest.mark.parametrize(
    ("runtime", "told", "folders"),
    [
        (
            "containerd",
            {"RUNTIME": "containerd", "CONTAINERD_CONFIG": "/runtime/config-dir/config.toml"},
            {
                "containerd-config": "/etc/containerd",
                "containerd-drop-in-config": "/etc/containerd/conf.d",
                "containerd-socket": "/run/containerd",
            },
        ),
        (
            "cri-o",
            {
                "RUNTIME": "crio",
                "CRIO_CONFIG": "/runtime/config-dir/crio.conf",
                "RUNTIME_DROP_IN_CONFIG": "/runtime/config-dir.d/99-nvidia.conf",
                "RUNTIME_DROP_IN_CONFIG_HOST_PATH": "/etc/crio/crio.conf.d/99-nvidia.conf",
            },
            {"crio-config": "/etc/crio", "crio-drop-in-config": "/etc/crio/crio.conf.d", "crio-socket": "/run/crio"},
        ),
        (
            "docker",
            {
                "RUNTIME": "docker",
                "DOCKER_CONFIG": "/runtime/config-dir/daemon.json",
                "DOCKER_SOCKET": "/runtime/sock-dir/docker.sock",
                "RUNTIME_SOCKET_HOST_PATH": "/run/docker.sock",
            },
            {"docker-config": "/etc/docker", "docker-socket": "/run"},
        ),
    ],
)
def test_each_runtime_has_its_variables_and_folders(
    runtime: str, told: dict[str, str], folders: dict[str, str]
) -> None:
    found = rendered(runtime)
    env = found["containers"][MAIN]["env"]
    assert told.items() <= env.items()
    assert paths(found) == folders
    mounted = [path for path in found["containers"][MAIN]["mounts"] if path.startswith("/runtime/")]
    assert len(mounted) == len(folders)


def test_a_runtimes_variables_are_not_those_of_another() -> None:
    env = rendered("docker")["containers"][MAIN]["env"]
    assert not {"CONTAINERD_CONFIG", "CONTAINERD_SOCKET", "RUNTIME_DROP_IN_CONFIG"} & env.keys()


def test_a_path_of_the_user_is_mounted() -> None:
    found = rendered("docker", env=[{"name": "DOCKER_CONFIG", "value": "/srv/docker/d.json"}])
    assert paths(found)["docker-config"] == "/srv/docker"
    assert found["containers"][MAIN]["env"]["DOCKER_CONFIG"] == "/runtime/config-dir/d.json"
    assert found["containers"][MAIN]["env"]["RUNTIME_CONFIG_HOST_PATH"] == "/srv/docker/d.json"


def test_nodes_of_several_runtimes_are_refused() -> None:
    context = Context(spec=parse_spec({}), namespace="n", image=IMAGE, runtime="containerd and cri-o")
    assert "GPU nodes run containerd and cri-o" in container_toolkit.refusal(context)
