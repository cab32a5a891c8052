"""GPUs as the NVML door would hand them over, for tests of the decisions."""

from lockgate.gpu.values import Capability, Engines, Fabric, Gpu, MigDevice, Reason, Snapshot, Unread, UnreadableGpu

NOT_SUPPORTED = Unread(Reason.NOT_SUPPORTED, "Not Supported")
LOST = Unread(Reason.LOST, "GPU is lost")


def gpu(index: int, **changes: object) -> Gpu:
    values: dict[str, object] = {
        "uuid": f"GPU-{index}",
        "index": index,
        "minor": index,
        "name": "NVIDIA A100-SXM4-40GB",
        "bus_id": f"00000000:{7 + index:02X}:00.0",
        "pci_class": 0x030200,
        "numa_node": 0,
        "memory_mib": 40960,
        "capability": Capability(8, 0),
        "mig_enabled": False,
        "mig": (),
        "fabric": NOT_SUPPORTED,
        "recovery_action": 0,
    }
    return Gpu(**(values | changes))  # type: ignore[arg-type]


def mig(parent: int, index: int, profile: str = "1g.5gb", instance: int | None = None, compute: int = 0) -> MigDevice:
    return MigDevice(
        uuid=f"MIG-{parent}-{index}",
        index=index,
        gpu_instance=7 + index if instance is None else instance,
        compute_instance=compute,
        profile=profile,
        memory_mib=4864,
        gpu_slices=1,
        compute_slices=1,
        engines=Engines(multiprocessors=14, copy=1, decoder=0, encoder=0, jpeg=0, ofa=0),
    )


def snapshot(*gpus: Gpu, lost: tuple[int, ...] = ()) -> Snapshot:
    return Snapshot("580.95.05", 13000, gpus, tuple(UnreadableGpu(index, LOST) for index in lost))


def fabric(
    clique: int, cluster: str = "11111111-2222-3333-4444-555555555555", state: int = 3, status: int = 0
) -> Fabric:
    return Fabric(state=state, status=status, cluster_uuid=cluster, clique_id=clique)
