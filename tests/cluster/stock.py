"""The configuration files that a node starts with, as an installer leaves them before Lockgate comes.

containerd's are stock for each family, plus what this cluster needs: our pause image (there is no registry), Debian's
folder of CNI plugins, and `restrict_oom_score_adj`, since a test machine may lack CAP_SYS_RESOURCE (without it the
sandbox fails with "can't get final child's PID from pipe: EOF").
"""

import json
from collections.abc import Mapping

from tests.cluster import addresses
from tests.cluster.images import PAUSE

CNI_BIN = "/usr/lib/cni"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"

# Debian's own file for 1.7 is of version 2 and names no imports.
_CONTAINERD_1_7 = f"""\
version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    sandbox_image = "{PAUSE}"
    restrict_oom_score_adj = true
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "{CNI_BIN}"
      conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd"
"""

_CONTAINERD_2_1 = f"""\
version = 3

[plugins]
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '{PAUSE}'

  [plugins.'io.containerd.cri.v1.runtime']
    restrict_oom_score_adj = true

    [plugins.'io.containerd.cri.v1.runtime'.cni]
      bin_dirs = ['{CNI_BIN}']
      conf_dir = '/etc/cni/net.d'

  [plugins.'io.containerd.internal.v1.opt']
    path = '/var/lib/containerd'
"""

# `containerd config default` of 2.4 is of version 4 and imports conf.d; installers keep both.
_CONTAINERD_2_4 = _CONTAINERD_2_1.replace("version = 3\n", "version = 4\nimports = ['/etc/containerd/conf.d/*.toml']\n")

CONTAINERD_CONFIG = {"1.7": _CONTAINERD_1_7, "2.1": _CONTAINERD_2_1, "2.4": _CONTAINERD_2_4}


def cni_config(subnet: str) -> str:
    """A bridge for the node's pods, addresses by host-local, host ports by portmap."""
    ranges = {"type": "host-local", "ranges": [[{"subnet": subnet}]], "routes": [{"dst": "0.0.0.0/0"}]}
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "hairpinMode": True, "ipam": ranges}
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, portmap]}, indent=2)


def kubelet_config(cgroup: str, taints: tuple[str, ...], overrides: Mapping[str, object]) -> str:
    """The kubelet's configuration (JSON, which is YAML) for a node in namespaces, on cgroup v1 or v2."""
    config: dict[str, object] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": "/etc/kubernetes/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": "/etc/kubernetes/kubelet.crt",
        "tlsPrivateKeyFile": "/etc/kubernetes/kubelet.key",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        # No systemd in a node; the kubelet refuses cgroup v1 by default since 1.35.
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup,
        "failCgroupV1": False,
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "clusterDNS": [addresses.DNS_SERVICE],
        "clusterDomain": "cluster.local",
        "resolvConf": "/etc/resolv.conf",
        # Ten seconds by default: a test that waits for a device count would wait that long.
        "nodeStatusUpdateFrequency": "2s",
        "nodeStatusReportFrequency": "1m",
        # The machine's disk is shared by all nodes and tests: never evict or collect images because of it.
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%"},
        "imageGCHighThresholdPercent": 100,
        "serializeImagePulls": False,
        "registerWithTaints": [_taint(text) for text in taints],
    }
    return json.dumps(config | dict(overrides), indent=2)


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}
