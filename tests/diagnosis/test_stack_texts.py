"""Texts of drivers and operands, as reports show them: pasted into `explain`, each finds the rule of its cause."""

import pytest

from lockgate.diagnosis.recognise import recognise
from lockgate.rules import all_rules

TEXTS = {
    "Could not locate Linux kernel version string": "driver/kernel-packages",
    "extract-vmlinux: Cannot find vmlinux.": "driver/kernel-packages",
    "Temporary failure resolving 'archive.ubuntu.com'": "driver/packages-unreachable",
    'Curl error (6): "Could not resolve host: mirrorlist.centos.org"': "driver/packages-unreachable",
    "gcc: error: unrecognized command line option '-ftrivial-auto-var-init=zero'": "driver/compiler",
    "*** Failed CC version check. Bailing out! ***": "driver/compiler",
    "NVRM: nouveau, rivafb, nvidiafb or rivatv was loaded": "driver/nouveau",
    "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service": "driver/unsigned-module",
    "Kernel module load error: Operation not permitted": "driver/unsigned-module",
    "Loading of unsigned module is rejected": "driver/unsigned-module",
    "NVRM: installed in this system is not supported by open": "driver/module-flavour",
    "this system requires use of the NVIDIA open kernel modules": "driver/module-flavour",
    "ERROR: Unable to load the kernel module 'nvidia.ko'.": "driver/module-not-loaded",
    "Could not unload NVIDIA driver kernel modules, driver is in use": "driver/in-use",
    "nvidia driver module is already loaded with refcount 12": "driver/in-use",
    "Modules linked in: nvidia_uvm(OE-) nvidia(POE)": "driver/half-unloaded",
    "modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/6.8.0-40-generic": "driver/kernel-moved",
    "NVRM: GPU 0000:98:00.0: RmInitAdapter failed! (0x62:0x65:1792)": "driver/adapter-failed",
    "NVRM: failed to wait for GFW boot complete: 0x65 VBIOS version 96.00": "driver/adapter-failed",
    "WARNING: infoROM is corrupted at gpu 0000:C1:00.0": "driver/inforom",
    "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:": "driver/pci-region",
    "failed to create device node nvidiactl: failed to determine major: invalid device node": "operands/dev-char-links",
    'exec: "nvidia-smi": executable file not found in $PATH': "operands/nvidia-smi-not-injected",
    "(error code system not yet initialized)!": "operands/fabric",
    "CUDA driver version is insufficient for CUDA runtime version": "operands/cuda-not-injected",
    "GPU resources are not yet discovered by the node, retry: 3": "operands/resources-not-seen",
    "Error: failed to create FS watcher: too many open files": "operands/inotify",
    "Error connecting to nv-hostengine: Host engine connection invalid/disconnected": "operands/exporter-unconnected",
    "Error starting nv-hostengine: DCGM initialization error": "operands/dcgm-without-driver",
    "Failed to start plugin: error waiting for MPS daemon: exit status 1": "operands/mps-daemon-missing",
    "error getting device memory info: Insufficient Permissions": "mig/monitor-permission",
    "The following GPUs could not be reset:": "mig/reset-refused",
    "Mode change pending: true": "mig/reboot-pending",
    "selected mig-config not present: all-9g.90gb": "mig/config-unknown",
    "device 0 has no MIG devices configured": "mig/instances-lost",
    "nvidia-mig-parted: /lib64/libc.so.6: version `GLIBC_2.34' not found": "mig/glibc",
}


@pytest.mark.parametrize(("text", "rule"), TEXTS.items())
def test_a_text_of_the_stack_finds_its_rule(text: str, rule: str) -> None:
    assert rule in recognise(text, all_rules())
