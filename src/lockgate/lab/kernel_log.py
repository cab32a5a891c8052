"""What NVIDIA's kernel module writes to the kernel's log when a GPU raises an XID."""

from typing import Final

from lockgate.lab.state import Gpu

# As the module words the commoner XIDs; addresses and channels are those of one occurrence.
_TEXTS: Final = {
    13: "Graphics Exception: ESR 0x404490=0x80000001",
    31: "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f42_7e000000. "
    "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    43: "Ch 00000008",
    45: "Ch 00000008",
    48: "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 0, "
    "subpartition 1.",
    63: "Row Remapper: New row (0x0000000000000001) marked for remapping, reset gpu to activate.",
    74: "NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
    94: "Contained: CE User Channel (0x9). RST: No, D-RST: No",
    95: "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
    119: "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL).",
}


def xid_lines(gpu: Gpu, code: int, seconds: float) -> list[str]:
    """The lines of one XID, `seconds` after boot, as dmesg prints them."""
    bus = gpu.bus_id[4:].rpartition(":")[0].lower()
    text = _TEXTS.get(code, "")
    said = f"NVRM: Xid (PCI:{bus}:00): {code}, pid='<unknown>', name=<unknown>{', ' if text else ''}{text}"
    return [f"[{seconds:12.6f}] NVRM: GPU at PCI:{bus}:00: {gpu.uuid}", f"[{seconds:12.6f}] {said}"]
