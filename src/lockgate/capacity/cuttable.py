"""Whether a node's GPUs could be partitioned anew, on which board and how many; or in words why not.

The device plugin's strategy decides what MIG devices are called: under `mixed` each profile has a resource of its own,
under `single` all are `nvidia.com/gpu`, and GFD's labels then describe a device instead of the GPU (its product is
`NVIDIA-A100-SXM4-40GB-MIG-2g.10gb`, its count that of devices).
"""

import msgspec

from lockgate.capacity.locks import readiness
from lockgate.capacity.slots import number
from lockgate.mig.configurations import BALANCED, configurations
from lockgate.mig.geometry import BOARDS, Board, Shape, board_of
from lockgate.model import names
from lockgate.model.objects import Labels
from lockgate.scheduling.scene import NodeView

SINGLE, MIXED = "single", "mixed"
MARK = "-MIG-"
_STRATEGY = "nvidia.com/mig.strategy"


class Cuttable(msgspec.Struct, frozen=True, kw_only=True):
    """A node's GPUs as they are when whole; `profile` is what they are cut into now under `single`."""

    product: str
    board: Board
    gpus: int
    strategy: str
    profile: str = ""


def cuttable(view: NodeView) -> Cuttable | str:
    """The node's GPUs, or why they cannot be partitioned anew."""
    labels = view.node.metadata.labels
    strategy = labels.get(_STRATEGY, "")
    if strategy not in (SINGLE, MIXED):
        return f"the MIG strategy is {strategy or 'none'}: the device plugin hands out no MIG devices"
    if held := sorted(n for n, count in view.room.requested.items() if count and names.is_gpu_resource(n)):
        return f"pods hold {', '.join(held)} there"
    if not_ready := readiness(view.node):
        return f"{not_ready[0].text}: nothing runs there that could apply a configuration"
    product, _, profile = labels.get(names.GPU_PRODUCT, "").partition(MARK)
    return _cut(labels, product, profile) if strategy == SINGLE and profile else _whole(labels, product, strategy)


def no_configuration(of: Cuttable, config: str) -> str:
    """Why these GPUs cannot have a configuration; "" when they can."""
    known = configurations(of.board)
    if config not in known:
        return f"the board {of.board.key} has no such configuration, but {', '.join(known)}"
    if of.strategy == SINGLE and config == BALANCED:
        return "the MIG strategy is single: all devices must be of one profile"
    return ""


def has_single(view: NodeView, profile: str) -> str:
    """The product label of a node that offers devices of that profile as `nvidia.com/gpu` now; "" when it does not."""
    labels = view.node.metadata.labels
    product = labels.get(names.GPU_PRODUCT, "")
    return product if labels.get(_STRATEGY) == SINGLE and product.endswith(f"{MARK}{profile}") else ""


def single_product(of: Cuttable, profile: str) -> str:
    """The product label of a node whose GPUs are all cut into one profile under `single`; "" when whole."""
    return f"{of.product}{MARK}{profile}" if profile else of.product


def _whole(labels: Labels, product: str, strategy: str) -> Cuttable | str:
    gpus = number(labels, names.GPU_COUNT) or 0
    if not gpus:
        return f"no label {names.GPU_COUNT} says how many GPUs there are"
    board = board_of(product, number(labels, names.GPU_MEMORY))
    if board is None:
        named = product or "a product without a name"
        return f"{named} cannot be partitioned, or which board it is cannot be told from the labels"
    return Cuttable(product=product, board=board, gpus=gpus, strategy=strategy)


def _cut(labels: Labels, product: str, profile: str) -> Cuttable | str:
    """What a node was before it was cut, from the labels of its devices."""
    devices, fitting = number(labels, names.GPU_COUNT) or 0, _with_profile(product, profile)
    if len(fitting) != 1:
        return f"which board it is cannot be told from the label {names.GPU_PRODUCT}={product}{MARK}{profile}"
    ((board, shape),) = fitting
    if not devices or devices % shape.most:
        return f"how many GPUs the {devices} devices of {profile} are cut from cannot be told"
    return Cuttable(product=product, board=board, gpus=devices // shape.most, strategy=SINGLE, profile=profile)


def _with_profile(product: str, profile: str) -> list[tuple[Board, Shape]]:
    """The boards of that product name that have the profile."""
    named = (board for board in BOARDS if board_of(product, board.total_mib) is board)
    return [(board, shape) for board in named if (shape := board.shape(profile)) is not None]
