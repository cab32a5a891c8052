"""From a request line to a reply line: who answers, and which return code an error becomes."""

import inspect
import logging
from collections.abc import Sequence

from lockgate.lab.answers import (
    compute_instances,
    cuda,
    device,
    events,
    gpu_instances,
    health,
    links,
    mig,
    power,
    processes,
    system,
)
from lockgate.lab.answers.registry import ANSWERS, Call, parse_arguments
from lockgate.lab.codes import CudaError, NvmlError, Return
from lockgate.lab.machine import Machine, Session
from lockgate.lab.wire import PROTOCOL, MalformedError, Token, parse_request, render_reply

# Importing them enters their functions in the table.
AREAS = (compute_instances, cuda, device, events, gpu_instances, health, links, mig, power, processes, system)

_log = logging.getLogger(__name__)


async def reply_to(machine: Machine, session: Session, line: bytes) -> bytes:
    """The reply to one request. Never raises: what is wrong with a request becomes its return code."""
    try:
        function, tokens = parse_request(line)
        values = await _answer(Call(machine, session), function, tokens)
    except MalformedError:
        return render_reply(Return.INVALID_ARGUMENT)
    except NvmlError as error:
        return render_reply(error.code)
    except Exception:  # noqa: BLE001 - a driver with a bug in it still answers, and says so in its log
        _log.exception("no answer to %r", line[:200])
        return render_reply(Return.UNKNOWN)
    return render_reply(Return.SUCCESS, values)


async def _answer(call: Call, function: str, tokens: tuple[Token, ...]) -> Sequence[Token]:
    if function == "hello":
        return _hello(call, tokens)
    if not call.session.api:
        raise NvmlError(Return.UNINITIALIZED)
    if not call.driver.loaded:
        raise NvmlError(_not_loaded(call.session.api))
    if function in call.driver.failures:
        raise NvmlError(call.driver.failures[function])
    entry = ANSWERS.get(function)
    if entry is None:
        raise NvmlError(Return.FUNCTION_NOT_FOUND)
    values = entry.answer(call, *parse_arguments(call, entry.arguments, tokens))
    return await values if inspect.isawaitable(values) else values


def _not_loaded(api: str) -> int:
    return CudaError.NO_DEVICE if api == "cuda" else Return.DRIVER_NOT_LOADED


def _hello(call: Call, tokens: tuple[Token, ...]) -> Sequence[Token]:
    """Open the session: protocol, library, its version, minors of the device nodes, CUDA_VISIBLE_DEVICES."""
    match tokens:
        case (int(protocol), int(api), str(version), str(minors), *rest) if protocol == PROTOCOL and api in (0, 1):
            pass
        case _:
            raise NvmlError(Return.INVALID_ARGUMENT)
    session = call.session
    name = ("nvml", "cuda")[api]
    if not call.driver.loaded:
        raise NvmlError(_not_loaded(name))
    if version != call.driver.version:
        raise NvmlError(CudaError.SYSTEM_DRIVER_MISMATCH if name == "cuda" else Return.LIB_RM_VERSION_MISMATCH)
    session.api = name
    session.visible = frozenset(int(minor) for minor in minors.split(",") if minor.isdecimal())
    session.visible_to_cuda = rest[0] if rest and isinstance(rest[0], str) else None
    return ()
