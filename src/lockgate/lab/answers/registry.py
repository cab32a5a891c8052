"""The table of answers: `@answers("nvmlDeviceGetIndex", "g")` says who answers and what arguments are demanded.

Argument letters: `g` a GPU, `d` a GPU or MIG device, `I` a GPU instance, `C` a compute instance, `u` an unsigned
integer, `s` text. A GPU argument arrives as a Target whose GPU is visible to the session and not lost.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, TypeVar

from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.machine import Machine, Session
from lockgate.lab.state import ComputeInstance, Driver, Gpu, GpuInstance
from lockgate.lab.wire import Object, Token

Values = Sequence[Token]
Answer = Callable[..., Values | Awaitable[Values]]
_Instance = TypeVar("_Instance", GpuInstance, ComputeInstance)


class Target(NamedTuple):
    """The device that a call is about: a GPU, or an instance on it."""

    gpu: Gpu
    gpu_instance: GpuInstance | None = None
    compute_instance: ComputeInstance | None = None

    @property
    def object(self) -> Object:
        """Its token on the wire."""
        instances = (self.gpu_instance, self.compute_instance)
        return Object((self.gpu.minor, *(instance.id for instance in instances if instance is not None)))


class Call(NamedTuple):
    """One call under way: whose it is, and the machine it reaches."""

    machine: Machine
    session: Session

    @property
    def driver(self) -> Driver:
        """The driver now."""
        return self.machine.driver

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs whose device nodes the process has, in PCI order."""
        return tuple(gpu for gpu in self.driver.gpus if gpu.minor in self.session.visible)


class Entry(NamedTuple):
    """A function and the arguments it takes."""

    arguments: str
    answer: Answer


ANSWERS: Final[dict[str, Entry]] = {}


def answers(name: str, arguments: str = "") -> Callable[[Answer], Answer]:
    """Enter the decorated function in the table; it gets the Call and its parsed arguments, and returns the values."""

    def enter(answer: Answer) -> Answer:
        if name in ANSWERS:
            raise ValueError(f"{name} is answered twice")
        ANSWERS[name] = Entry(arguments, answer)
        return answer

    return enter


def parse_arguments(call: Call, letters: str, tokens: Sequence[Token]) -> list[Token | Target]:
    """The tokens as the letters demand them; NvmlError when they are not."""
    if len(tokens) != len(letters):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return [_parse(call, letter, token) for letter, token in zip(letters, tokens, strict=True)]


def _parse(call: Call, letter: str, token: Token) -> Token | Target:
    match letter, token:
        case (("g" | "d" | "I" | "C"), Object()):
            return _find(call, letter, token)
        case "u", int() if token >= 0:
            return token
        case "s", str():
            return token
        case _:
            raise NvmlError(Return.INVALID_ARGUMENT)


# How many numbers name each kind of object: the GPU, its instance, the compute instance in that.
_DEPTHS: Final = {"g": (1, 3), "d": (1, 3), "I": (2,), "C": (3,)}


def _find(call: Call, letter: str, token: Object) -> Target:
    gpu = next((gpu for gpu in call.gpus if gpu.minor == token[0]), None)
    if gpu is None or len(token) not in _DEPTHS[letter]:
        raise NvmlError(Return.INVALID_ARGUMENT)
    if gpu.lost:
        raise NvmlError(Return.GPU_IS_LOST)
    if letter == "g" and len(token) == 3:  # a MIG device where only a whole GPU has an answer
        raise NvmlError(Return.NOT_SUPPORTED)
    gpu_instance = _by_id(gpu.gpu_instances, token[1]) if len(token) > 1 else None
    compute_instance = _by_id(gpu_instance.compute_instances, token[2]) if gpu_instance and len(token) > 2 else None
    return Target(gpu, gpu_instance, compute_instance)


def _by_id(instances: tuple[_Instance, ...], wanted: int) -> _Instance:
    for instance in instances:
        if instance.id == wanted:
            return instance
    raise NvmlError(Return.INVALID_ARGUMENT)
