"""Texts of the failure catalogue, whole and as somebody copies a part of them, lead to the catalogue's code.

The texts are copied from the catalogue; placeholders in it are filled as the program would.
"""

# ruff: noqa: E501 - texts of real programs stay on one line

import pytest

from lockgate.cli.pages import all_pages, find
from lockgate.diagnosis.recognise import recognise
from lockgate.diagnosis.recognise_words import _WORDS
from lockgate.rules import all_rules

RULES = all_rules()
PAGES = {page.id: page for kind in ("lint", "finding") for page in all_pages() if page.kind == kind}

# By code: each text on a line.
CATALOGUE = {
    "A01": """
pods "x" is forbidden: exceeded quota: Q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4
Error creating: pods "x-" is forbidden: exceeded quota: Q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4""",
    "A02": "status unknown for quota",
    "A03": 'pods "x" is forbidden: pod rejected: RuntimeClass "nvidia" not found',
    "A04": "resources.limits[nvidia.com/gpu]: Required value: Limit must be set for non overcommitable resources",
    "A06": """
Invalid value: "500m": must be an integer
Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer""",
    "A10": "unable to validate against any security context constraint",
    "A13": "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor X, 2 more needed",
    "B01": """
node(s) had untolerated taint {sku: gpu}
node(s) had untolerated taint(s)
2 node(s) had untolerated taint(s), 1 Insufficient nvidia.com/gpu""",
    "B02": "node(s) didn't match Pod's node affinity/selector",
    "B03": """
node(s) were unschedulable
1 node(s) were unschedulable.""",
    "B05": """
node(s) had volume node affinity conflict
pod has unbound immediate PersistentVolumeClaims""",
    "B06": """
Insufficient cpu
Insufficient memory
Insufficient ephemeral-storage
Insufficient rdma/hca""",
    "C02": """
Incompatible platform detected
Incompatible strategy detected
If this is a GPU node, did you configure the NVIDIA Container Toolkit?
Incompatible platform detected. If this is a GPU node, did you configure the NVIDIA Container Toolkit?
No devices found. Waiting indefinitely.
Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file
could not load NVML library""",
    "C03": "nvml init failed: ERROR_LIBRARY_NOT_FOUND",
    "C04": "ListAndWatch ended unexpectedly for device plugin",
    "C05": """
Could not register device plugin: context deadline exceeded
inotify: /var/lib/kubelet/device-plugins/kubelet.sock created, restarting.""",
    "C06": "'nvidia.com/gpu' device marked unhealthy: GPU-1a2b",
    "C07": """
Error waiting for event: Unknown Error; Marking all devices as unhealthy
Failed to determine uuid for event 79; Marking all devices as unhealthy.
no healthy devices""",
    "C09": """
Insufficient nvidia.com/gpu
No preemption victims found for incoming pod""",
    "C14": "panic: More than one MIG device type present on node",
    "C17": "Kernel driver in use: vfio-pci",
    "C18": "cannot allocate all claims",
    "D01": "requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0",
    "D02": """
no healthy devices present; cannot allocate unhealthy devices
no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu""",
    "D03": "cannot allocate unregistered device",
    "D04": "previously allocated devices are no longer healthy",
    "D06": 'invalid allocation request for "nvidia.com/gpu": invalid request: maximum request size for shared resources is 1; found 2',
    "D07": "invalid request: unknown device: GPU-1a2b",
    "D08": "Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8",
    "D09": "Resources cannot be allocated with Topology locality",
    "E01": 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured',
    "E03": 'no runtime for "runc" is configured',
    "E10": """
fork/exec /opt/nvidia-runtime/toolkit/nvidia-container-runtime: no such file or directory
exec: "nvidia-container-runtime": executable file not found in $PATH""",
    "E11": "failed to inject CDI devices: unresolvable CDI devices management.nvidia.com/gpu=GPU-1a2b",
    "E12": """
failed to stat CDI host device "/dev/nvidia0": no such file or directory
conflicting device nvidia.com/gpu=0 (specs /etc/cdi/a.yaml, /var/run/cdi/b.yaml)
CDI devices (nvidia.com/gpu=0) requested but CDI support is explicitly disabled""",
    "E18": "load program: invalid argument",
    "E20": "dial unix /run/containerd/containerd.sock: connect: connection refused",
    "G01": """
WARNING: NFD labels missing in the cluster, GPU nodes cannot be discovered.
No NFD label found, polling for new nodes.
NFDLabelsMissing""",
    "G10": "only one CR may be present at a time",
    "H03": "warning: the compiler differs from the one used to build the kernel",
    "H04": """
NVRM: This can occur when a driver such as: nouveau, rivafb, nvidiafb or rivatv was loaded
Failed to enable MSI-X""",
    "H07": "nvidia-container-cli: initialization error: nvml error: driver not loaded",
    "H08": "Auto drain of the node gpu-a is disabled by the upgrade policy",
    "H11": """
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.""",
    "I01": """
waiting for nvidia container stack to be setup
failed to validate the driver, retrying after 5 seconds""",
    "I04": "detected number of NVSwitches don't match with any supported system topology",
    "J04": "NVML library version: 570.195",
}
TEXTS = [(code, text) for code, texts in CATALOGUE.items() for text in texts.strip().split("\n")]


@pytest.mark.parametrize(("code", "text"), TEXTS)
def test_a_text_of_the_catalogue_leads_to_its_code(code: str, text: str) -> None:
    found = recognise(text, RULES)
    assert code in {code for name in found[:2] for code in PAGES[name].codes}, found
    assert [page.id for page in find(text)][-len(found) :] == list(found), "explain shows every page of it"


@pytest.mark.parametrize("text", [text for _, text in TEXTS if len(text.split()) > 5])
def test_a_line_break_of_a_terminal_changes_nothing(text: str) -> None:
    if recognise(text, ()):  # words and reasons; what rules quote, they quote as it was written
        words = text.split()
        broken = " ".join(words[:3]) + "\n    " + " ".join(words[3:])
        assert recognise(broken, ()) == recognise(text, ())


def test_every_page_that_words_lead_to_is_there() -> None:
    assert [name for _, ids in _WORDS for name in ids if name not in PAGES] == []


@pytest.mark.parametrize(
    "text",
    [
        "node(s)",
        "the pod group of my StorageClass",
        "preemption",
        "no such file or directory",
        "did you configure it?",
        "must be an integer",
        "restarting",
    ],
)
def test_prose_and_single_words_name_nothing(text: str) -> None:
    assert recognise(text, RULES) == ()


@pytest.mark.parametrize("asked", ["79", "xid 79", "XID: 79", "NvidiaXID79Error"])
def test_a_bare_number_is_an_xid(asked: str) -> None:
    assert find(asked)[0].id == "xid-79"
