"""A handler's options hold one key in two spellings.

`BinaryName` and `binaryName`, `SystemdCgroup` and `systemdCgroup`: one comes from a person's template, the other from
a toolkit that wrote beside it. containerd reads options without regard to case, and nothing says which of the two
wins.

Why it matters: the handler is there and loaded, and what runs may be plain runc: containers start without a GPU.
How to tell: `containerd config dump` shows both keys in one table.
Fix: keep the spelling that containerd documents, `BinaryName` and `SystemdCgroup`, and restart containerd.
"""

from collections.abc import Iterator

from lockgate.containerd.effective import Effective, Handler
from lockgate.containerd.values import Leaf, Table
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node

_Twice = tuple[str, list[tuple[str, Leaf]]]  # the handler, and one key in its spellings


@rule(
    codes=("E07",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "gpu-use/not-injected", "containerd/handler-missing"),
    runtime="containerd",
)
def option_key_case(node: Node, gate_two: GateTwo) -> Failed | Passed | None:
    gate = gate_two.on(node.name)
    if not isinstance(gate.effective, Effective):
        return None
    twice = [found for handler in gate.effective.handlers.values() for found in _twice(handler)]
    if not twice:
        return Passed(f"no option of a runtime of {node.name} is spelt in two ways")
    return _failed(gate, twice)


def _twice(handler: Handler) -> Iterator[_Twice]:
    """Keys of the handler's options that stand there twice, with values that differ."""
    options = handler.table.get("options")
    said = [(k, v) for k, v in options.items() if isinstance(v, Leaf)] if isinstance(options, Table) else []
    folded: dict[str, list[tuple[str, Leaf]]] = {}
    for key, leaf in said:
        if not leaf.origin.is_built_in:
            folded.setdefault(key.lower(), []).append((key, leaf))
    for spelt in folded.values():
        if len({repr(leaf.value) for _, leaf in spelt}) > 1:
            yield handler.name, sorted(spelt, key=lambda item: item[0])  # capitals first: the documented spelling


def _failed(gate: NodeGate, twice: list[_Twice]) -> Failed:
    name, spelt = twice[0]
    both = " and ".join(f"{key} = {leaf.value!r}" for key, leaf in spelt).replace("'", '"')
    return Failed(
        about=f"node/{gate.name}",
        summary=f'runtime "{name}" of {gate.name} has {both}: one key in two spellings.',
        evidence=tuple(_line(gate, handler, key, leaf) for handler, keys in twice for key, leaf in keys),
        remedy=(
            Remedy(
                f"On {gate.name}, keep {spelt[0][0]} alone, and restart containerd; one node at a time",
                "systemctl restart containerd",
                Risk.HIGH,
            ),
        ),
    )


def _line(gate: NodeGate, handler: str, key: str, leaf: Leaf) -> Evidence:
    place = leaf.origin
    return Evidence(
        file=f"{gate.name}:{place.file}",
        line=place.line,
        field=f"runtimes.{handler}.options",
        value=f"{key}={leaf.value}",
    )
