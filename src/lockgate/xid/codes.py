"""The XIDs: a row a code, and a row a family with what it means for a pod and what NVIDIA asks for.

Families, meanings and actions are those of NVIDIA's XID catalogue as the failure catalogue quotes it (section K, read
from gpud's generated copy). The names are those of NVIDIA's open kernel modules (nverror.h); docs/decisions/0051 says
which of them were not compared with a source.
"""

import enum
from typing import Final

import msgspec


class Family(enum.StrEnum):
    """XIDs that mean the same for a pod."""

    APPLICATION = "application"
    CONTAINED = "contained"
    MEMORY = "memory"
    ROW_REMAP = "row-remap"
    BUS = "bus"
    FIRMWARE = "firmware"
    CONTEXT_SWITCH = "context-switch"
    LINK = "link"
    RECOVERY = "recovery"
    VGPU = "vgpu"
    OTHER = "other"


class FamilyRow(msgspec.Struct, frozen=True):
    """What an XID of the family means for the pods on the GPU, and NVIDIA's immediate action."""

    meaning: str
    action: str


FAMILIES: Final[dict[Family, FamilyRow]] = {
    Family.APPLICATION: FamilyRow("a program on the GPU made a fault, and was ended; the GPU is well", "RESTART_APP"),
    Family.CONTAINED: FamilyRow(
        "memory was damaged, and the damage stayed in one program, which was ended", "RESTART_APP"
    ),
    Family.MEMORY: FamilyRow("memory was damaged, and data may be lost; new work on the GPU is not safe", "RESET_GPU"),
    Family.ROW_REMAP: FamilyRow("the GPU replaces a bad row of its memory, from its next reset on", "RESET_GPU"),
    Family.BUS: FamilyRow("the GPU does not answer any more: bus, power, or its own controller", "RESTART_BM"),
    Family.FIRMWARE: FamilyRow("the GPU's firmware (GSP) hangs, and clients of the driver with it", "RESET_GPU"),
    Family.CONTEXT_SWITCH: FamilyRow("the GPU could not switch between programs in time", "RESET_GPU"),
    Family.LINK: FamilyRow("links between GPUs fail: work on several GPUs stops or is wrong", "a workflow of its own"),
    Family.RECOVERY: FamilyRow("the driver says what it needs to recover", "what the text names"),
    Family.VGPU: FamilyRow("driver and vGPU host do not fit, or the licence does not", "UPDATE_SWFW"),
    Family.OTHER: FamilyRow("not in the catalogue that is known here", ""),
}


class Code(msgspec.Struct, frozen=True):
    """One XID. `action` and `meaning` are those of the family where a code has none of its own."""

    number: int
    name: str
    family: Family
    own_meaning: str = ""
    own_action: str = ""

    @property
    def meaning(self) -> str:
        return self.own_meaning or FAMILIES[self.family].meaning

    @property
    def action(self) -> str:
        """NVIDIA's immediate action."""
        return self.own_action or FAMILIES[self.family].action


_ROWS: Final = (
    Code(13, "GR_EXCEPTION", Family.APPLICATION, "a program's kernel raised an exception in the graphics engine"),
    Code(31, "MMU_ERR_FLT", Family.APPLICATION, "a program used an address of GPU memory that is not its own"),
    Code(32, "PBDMA_ERROR", Family.APPLICATION, "a program's commands to the GPU were broken"),
    Code(43, "RESETCHANNEL_VERIF_ERROR", Family.APPLICATION, "a program was stopped on the GPU after its own fault"),
    Code(
        45,
        "PREEMPTIVE_REMOVAL",
        Family.APPLICATION,
        "a program was cleared off the GPU after an earlier error",
        "IGNORE",
    ),
    Code(48, "GPU_ECC_DBE", Family.MEMORY, "a double-bit error: memory was damaged and data is lost"),
    Code(54, "", Family.BUS, "the GPU's power cable gives none", "check the power cables"),
    Code(62, "PMU_HALT_ERROR", Family.BUS, "the GPU's own controller halted"),
    Code(
        63, "ROW_REMAP_EVENT", Family.ROW_REMAP, "a bad row of memory was marked; the next reset replaces it", "IGNORE"
    ),
    Code(64, "ROW_REMAP_FAILURE", Family.ROW_REMAP, "a bad row of memory could not be replaced", "RESET_GPU"),
    Code(68, "", Family.APPLICATION, "a program's video work raised an exception"),
    Code(69, "GR_CLASS_ERROR", Family.APPLICATION, "a program used the graphics engine wrongly"),
    Code(74, "NVLINK_ERROR", Family.LINK),
    Code(78, "VGPU_START_ERROR", Family.VGPU, "a vGPU could not start"),
    Code(79, "GPU_HAS_FALLEN_OFF_THE_BUS", Family.BUS, "the GPU is gone from the bus"),
    Code(80, "PBDMA_PUSHBUFFER_CRC_MISMATCH", Family.APPLICATION, "a program's commands arrived damaged"),
    Code(92, "EXCESSIVE_SBE_INTERRUPTS", Family.ROW_REMAP, "memory corrects errors at a high rate"),
    Code(94, "CONTAINED_ERROR", Family.CONTAINED),
    Code(95, "UNCONTAINED_ERROR", Family.MEMORY, "memory was damaged, and every program on the GPU may be struck"),
    Code(109, "CTXSW_TIMEOUT_ERROR", Family.CONTEXT_SWITCH),
    Code(119, "GSP_RPC_TIMEOUT", Family.FIRMWARE, "the GPU's firmware (GSP) did not answer the driver in time"),
    Code(120, "GSP_ERROR", Family.FIRMWARE, "the GPU's firmware (GSP) failed"),
    Code(136, "ALI_TRAINING_FAIL", Family.LINK, "an NVLink did not come up"),
    Code(137, "NVLINK_FLA_PRIV_ERR", Family.LINK, "a program used another GPU's memory over NVLink without right"),
    Code(140, "UNRECOVERABLE_ECC_ERROR_ESCAPE", Family.MEMORY, "an error of memory that ECC could not mend"),
    Code(143, "GPU_INIT_ERROR", Family.FIRMWARE, "the GPU could not be initialised"),
    *(
        Code(n, name, Family.LINK)
        for n, name in (
            (144, "NVLINK_SAW_ERROR"),
            (145, "NVLINK_RLW_ERROR"),
            (146, "NVLINK_TLW_ERROR"),
            (147, "NVLINK_TREX_ERROR"),
            (148, "NVLINK_NVLPW_CTRL_ERROR"),
            (149, "NVLINK_NETIR_ERROR"),
            (150, "NVLINK_MSE_ERROR"),
            (155, "NVLINK_SW_DEFINED_ERROR"),
        )
    ),
    Code(154, "GPU_RECOVERY_ACTION_CHANGED", Family.RECOVERY),
    Code(158, "GPU_FATAL_TIMEOUT", Family.FIRMWARE, "the GPU did not answer in time, and will not"),
    Code(167, "PCIE_FATAL_TIMEOUT", Family.BUS, "the GPU did not answer on the bus in time"),
    Code(171, "UNCORRECTABLE_DRAM_ERROR", Family.MEMORY),
    Code(172, "UNCORRECTABLE_SRAM_ERROR", Family.MEMORY),
)
CODES: Final[dict[int, Code]] = {code.number: code for code in _ROWS}


def code_of(number: int) -> Code:
    """The row of an XID; a row of family OTHER for a number that the table does not have."""
    return CODES.get(number) or Code(number, "", Family.OTHER)
