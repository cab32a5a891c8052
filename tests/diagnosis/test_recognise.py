"""Error texts as people paste them find the rule that names their cause."""

# ruff: noqa: E501 - texts of real programs stay on one line

import pytest

from lockgate.cli.pages import find
from lockgate.diagnosis.recognise import recognise
from lockgate.rules import all_rules

RULES = all_rules()
HOOK = "OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: "
TEXTS = {
    HOOK + 'Auto-detected mode as "cdi" invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported. Please use the NVIDIA Container Runtime (e.g. specify the --runtime=nvidia flag) instead.': "injection/hook-called-directly",
    HOOK + "nvidia-container-cli.real: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory": "injection/driver-library-missing",
    "lstat /run/nvidia/driver/dev/nvidiactl: no such file or directory": "injection/driver-root-missing",
    "nvidia-container-cli.real: initialization error: driver rpc error: timed out": "injection/driver-timeout",
    "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container": "injection/driver-too-old",
    "nvidia-container-cli: mount error: failed to add device rules: unable to find any existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted": "injection/device-cgroup-refused",
    "container create failed: read status from sync socket: No such process": "injection/user-namespace",
    "QMP command failed: vfio 0000:06:00.0: group 5 is not viable": "injection/vfio-group-not-viable",
    'Failed to pull image "nvcr.io/nvidia/driver:515.65.01-buildroot2021.02.12": not found': "image/driver-os-not-published",
    'Failed to pull image "nvcr.io/nvidia/driver:535-5.15.0-118-generic-ubuntu22.04": rpc error: code = NotFound': "pod/image",
    'Failed to pull image "nvcr.io/nvidia/driver:535-5.15.0-118-generic-ubuntu22.04": nvcr.io/nvidia/driver:535-5.15.0-118-generic-ubuntu22.04: not found': "image/driver-kernel-not-published",
    "exec /usr/bin/python3: exec format error": "image/wrong-architecture",
    "The node was low on resource: ephemeral-storage. Threshold quantity: 5Gi, available: 4Gi.": "image/no-disk-space",
    'exec: "nvidia-smi": executable file not found in $PATH': "gpu-use/not-injected",
    "CUDA driver version is insufficient for CUDA runtime version": "gpu-use/not-injected",
    "Failed to initialize NVML: Unknown Error": "gpu-use/access-lost",
    "failed to initialize NVML: Unknown Error": "gpu-use/access-lost",
    "XidCriticalError: Xid=94 on Device=GPU-1a; marking device as unhealthy.": "xid/contained-memory-error",
    "Failed to initialize NVML: Driver/library version mismatch": "gpu-use/driver-library-differs",
    "Failed to initialize NVML: Insufficient Permissions": "gpu-use/selinux-denies",
    "RuntimeError: CUDA error: system not yet initialized": "gpu-use/fabric-not-ready",
    "Error 803: system has unsupported display driver / cuda driver combination": "gpu-use/driver-combination",
    "Error 804: forward compatibility was attempted on non supported HW": "gpu-use/driver-combination",
    "CUDA error: all CUDA-capable devices are busy or unavailable": "gpu-use/devices-busy",
    "CUDA error: CUDA-capable device(s) is/are busy or unavailable": "gpu-use/devices-busy",
    "No devices were found": "gpu-use/no-devices-found",
    "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU": "gpu-use/gpu-lost",
    "Unable to determine the device handle for gpu 0000:3B:00.0: GPU is lost": "gpu-use/gpu-lost",
    "INFO: task nvidia-smi:77 blocked for more than 120 seconds.": "gpu-use/driver-hangs",
    "[  104.2] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.": "xid/off-the-bus",
    "NVRM: Xid (PCI:0000:ca:00): 31, pid=3000, name=python, Ch 00000008, intr 00000000. MMU Fault": "xid/application",
    "NVRM: Xid (PCI:0000:ca:00): 999, something": "xid/unlisted",
    "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up": "xid/switch-error",
    "detected NVSwitch fatal error 20034 on fid:0": "xid/switch-error",
    "ERROR: Could not find kernel full version: ('', '')": "discovery/os-labels-missing",
    "multiple NVIDIADrivers match the same node gpu-a: [a b]": "operator/driver-conflict",
    'no matches for kind "NVIDIADriver" in version "nvidia.com/v1alpha1"': "operator/definitions-missing",
    'RuntimeHandler "nvidia" not supported': "containerd/handler-missing",
}  # fmt: skip


@pytest.mark.parametrize(("text", "rule"), TEXTS.items())
def test_a_pasted_text_names_its_rule_first(text: str, rule: str) -> None:
    assert next(iter(recognise(text, RULES)), "") == rule


@pytest.mark.parametrize("text", ["connection refused", "permission denied", "out of memory", "not found", "XID"])
def test_words_that_everything_says_name_nothing(text: str) -> None:
    assert recognise(text, RULES) == ()


def test_an_xid_is_explained_by_its_number() -> None:
    assert find("NvidiaXID94Error") == find("Xid 94")
    page, *rules = find("Xid 94")
    assert (page.kind, page.title) == ("xid", "XID 94 CONTAINED_ERROR")
    assert "NVIDIA's action: RESTART_APP" in page.text
    assert "NVIDIA's device plugin: takes the GPU away until the plugin is restarted" in page.text
    assert [p.id for p in rules] == ["xid/contained-memory-error"]
