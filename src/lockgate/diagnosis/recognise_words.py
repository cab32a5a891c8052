"""Words of programs whose cause a rule decides from other facts, so that it quotes no text: what may be behind them.

A plugin that waits without a device is seen by its node's numbers, a missing label by the label. Pasted alone, without
the objects, such a text only says which rules to look at. Fragments of texts that rules read whole are here as well.
Sources: the failure catalogue's texts, and the sources that the rules name.
"""

import re
from typing import Final

_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    # the API server, queues
    (r"status unknown for quota", ("admission/quota-uncounted",)),
    (
        r"Invalid value: (?:\S+|resource\.Quantity\{.*?\}): must be an integer",
        ("admission/amount-invalid", "manifest/gpu-not-whole"),
    ),
    (r"unable to validate against any security context constraint", ("admission/security-context-constraint",)),
    (r"\b\d*\.\d+ (?:of a )?(?:gpus?|nvidia\.com/gpu)\b", ("admission/amount-invalid", "manifest/gpu-not-whole")),
    (r'error looking up service account|serviceaccount "[^"]+" not found', ("admission/service-account-missing",)),
    (r'resourceclaim(?:template)?\.resource\.k8s\.io "[^"]+" not found', ("claims/claim-missing",)),
    (r"resource in cluster is overused", ("queueing/group-not-admitted",)),
    (
        r"insufficient (?:unused )?quota for \S+ in flavor|LocalQueue \S+ doesn't exist|ClusterQueue \S+ is inactive"
        r"|requests? exceeds? the maximum quota|the workload is deactivated|the workload waits for admission check",
        ("queueing/kueue-waiting",),
    ),
    (r"scheduling is blocked due to non-empty scheduling gates|^SchedulingGated$", ("scheduling/gated",)),
    (r"^NotTriggerScaleUp$", ("autoscaling/no-node-added",)),
    (r"^TriggeredScaleUp$", ("autoscaling/node-coming",)),
    (
        r"job has reached the specified backoff limit|job was active longer than specified deadline",
        ("workload/gave-up",),
    ),
    # what the scheduler says of preemption is no cause: the ones behind it are
    (
        r"no preemption victims found for incoming p",
        ("scheduling/preemption-would-not-help", "scheduling/all-held", "scheduling/fragmented"),
    ),
    (
        r"preemption is not helpful for scheduling",
        (
            *("scheduling/preemption-would-not-help", "scheduling/selector", "scheduling/untolerated-taint"),
            *("scheduling/cordoned", "scheduling/fragmented"),
        ),
    ),
    # device plugin
    (
        r"no devices found\. waiting indefinitely|incompatible (?:platform|strategy) detected"
        r"|detected non-NVML platform"
        r"|if this is a GPU node, did you configure the NVIDIA Container Toolkit|could not load NVML library",
        ("operands/plugin-idle",),
    ),
    (r"ListAndWatch ended unexpectedly|nvml init failed: ", ("operands/plugin-gone",)),
    (
        r"could not register device plugin|kubelet\.sock created, restarting",
        ("operands/plugin-idle", "operands/plugin-gone"),
    ),
    (r"device marked unhealthy|marking all devices as unhealthy", ("devices/unhealthy",)),
    (r"more than one MIG device type present on node", ("devices/mig-layout-invalid",)),
    (r"pod triggered scale-up|pod should schedule on: ", ("autoscaling/node-coming",)),
    # kubelet
    (
        r"no healthy devices present|devices are no longer healthy|cannot allocate unregistered device"
        r"|node didn't have enough resource: nvidia\.com/|maximum request size for shared resources"
        r"|invalid request: unknown device|resources cannot be allocated with topology locality"
        r"|requested: \d+, available: \d+|^(?:TopologyAffinityError|UnexpectedAdmissionError|OutOfnvidia\.com/.*)$",
        ("kubelet/refused",),
    ),
    (
        r"node didn't have enough resource: (?!nvidia\.com/)|devices unavailable for (?!nvidia\.com/)"
        r"|imminent node shutdown|rejected as the node is shutting down|predicate \w+ failed: "
        r"|longer than the specified deadline|preempted in order to admit critical pod"
        r"|low on resource: (?:memory|pids)",
        ("kubelet/ended",),
    ),
    (r"kubelet stopped posting node status|container runtime is down", ("nodes/not-ready",)),
    (r"node \S+ has been rebooted, boot id", ("kubelet/started-before-plugin",)),
    (r'back-off pulling image|failed to pull image "', ("pod/image",)),
    (r"no healthy devices", ("devices/unhealthy", "kubelet/refused")),
    # containerd, CDI, the hook
    (r"disabled_plugins\s*=|unknown service runtime\.v1", ("containerd/cri-disabled", "nodes/not-ready")),
    (
        r"^(?:FailedCreatePodSandBox|FailedCreatePodContainer|CreateContainerError|RunContainerError)$",
        ("containerd/handler-missing", "cdi/unresolvable", "injection/driver-library-missing", "pod/not-created"),
    ),
    (r"^(?:CrashLoopBackOff|back-off restarting failed container.*|OOMKilled)$", ("pod/container-failed",)),
    (r"conflicting device \S+ \(specs ", ("cdi/conflicting-names",)),
    (r"load program: invalid argument", ("injection/device-cgroup-refused",)),
    # operator and node discovery
    (r"NFD labels missing|no NFD labels? found|NFDLabelsMissing", ("discovery/no-gpu-node",)),
    (r"only one CR may be present at a time", ("operator/second-policy",)),
    (
        r"waiting for nvidia container stack to be setup|failed to validate the driver, retrying",
        ("operands/init-waits",),
    ),
    (r"error creating output file: \S+ \S*features\.d/", ("discovery/features-not-arriving",)),
    # driver
    (r"RmInitAdapter failed", ("driver/adapter-failed",)),
    (r"nvidia-smi\W* ?: executable file not found", ("gpu-use/not-injected", "manifest/no-gpu-asked")),
    (
        r"nvidia-smi has failed|couldn't communicate with the NVIDIA driver",
        ("driver/not-answering", "driver/kernel-moved"),
    ),
    (r"no nvidia-smi on the host|nvidia-smi .* has not answered within \d+ s", ("driver/not-answering",)),
    (r"SecureBoot enabled", ("driver/unsigned-module",)),
    (r"failed to delete workload pods on the node for the driver upgrade", ("driver/upgrade-stuck",)),
    (r"avc:\s+denied .*\bnvidia", ("gpu-use/selinux-denies",)),
    # of a GPU of its own the program takes too much; of a shared one the others hold it
    (
        r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
        ("gpu-use/shared-memory-full",),
    ),
    (r"GPU has fallen off the bus", ("xid/off-the-bus",)),
    (r"ERROR_DRIVER_NOT_LOADED", ("driver/module-not-loaded", "driver/not-answering")),
    (r"compiler differs from the one used to build the kernel", ("driver/compiler",)),
    (r"a driver such as: nouveau|failed to enable MSI-X", ("driver/nouveau",)),
    (r"auto drain of the node \S+ is disabled by the upgrade policy", ("driver/in-use",)),
    (r"kernel driver in use: vfio-pci", ("nodes/for-machines",)),
    (
        r"number of NVSwitches don't match with any supported|GPU driver interface version \S+ don't match with driver",
        ("operands/fabric",),
    ),
    (r"NVML library version: \d", ("gpu-use/driver-library-differs",)),
)
_READ: Final = tuple((re.compile(words, re.IGNORECASE), ids) for words, ids in _WORDS)


def behind(text: str) -> tuple[str, ...]:
    """The ids of rules, of `why` or of `lint`, that may be behind such words; empty for words of no program here."""
    flat = " ".join(text.split())
    return next((ids for words, ids in _READ if words.search(flat)), ())
