"""The containers in the text of `kubectl describe pod`: names indented by two, what belongs to them by more."""

import re
from collections.abc import Iterator

from lockgate.model.objects import (
    Container,
    ContainerState,
    ContainerStatus,
    EnvVar,
    ResourceRequirements,
    StateRunning,
    StateTerminated,
    StateWaiting,
)

NONE = ("", "<none>", "<unset>")


def containers(lines: list[str]) -> tuple[tuple[Container, ...], tuple[ContainerStatus, ...]]:
    """The containers of a `Containers:` section and their statuses."""
    own = list(blocks(lines[1:]))
    return tuple(_container(n, b) for n, b in own), tuple(_status(n, b) for n, b in own)


def blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each container's name with its own lines; names are indented by two, what belongs to them by more."""
    name, own = "", list[str]()
    for line in lines:
        if re.match(r"^ {2}\S+:\s*$", line):
            if name:
                yield name, own
            name, own = line.strip().rstrip(":"), []
        else:
            own.append(line)
    if name:
        yield name, own


def _container(name: str, lines: list[str]) -> Container:
    return Container(
        name=name,
        image=inner(lines, "Image"),
        command=tuple(_below(lines, "Command")),
        args=tuple(_below(lines, "Args")),
        env=tuple(EnvVar(name=k, value=str(v)) for k, v in _env(lines)),
        resources=ResourceRequirements(requests=_quantities(lines, "Requests"), limits=_quantities(lines, "Limits")),
    )


def _env(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The variables; where a value comes from elsewhere (`<set to the key ...>`) it is not shown."""
    for line in _below(lines, "Environment"):
        key, colon, value = line.partition(":")
        if colon:
            yield key, "" if value.strip().startswith("<") else value.strip()


def _status(name: str, lines: list[str]) -> ContainerStatus:
    restarts = inner(lines, "Restart Count")
    return ContainerStatus(
        name=name,
        ready=inner(lines, "Ready") == "True",
        restart_count=int(restarts) if restarts.isdigit() else 0,
        image=inner(lines, "Image"),
        state=_state(lines, "State"),
        last_state=_state(lines, "Last State"),
    )


def _state(lines: list[str], key: str) -> ContainerState:
    below = _nested(lines, key)
    reason, message = inner(below, "Reason"), inner(below, "Message")
    match inner(lines, key):
        case "Waiting":
            return ContainerState(waiting=StateWaiting(reason=reason, message=message))
        case "Running":
            return ContainerState(running=StateRunning())
        case "Terminated":
            code = inner(below, "Exit Code")
            exit_code = int(code) if code.lstrip("-").isdigit() else 0
            return ContainerState(terminated=StateTerminated(reason=reason, message=message, exit_code=exit_code))
        case _:
            return ContainerState()


def inner(lines: list[str], key: str) -> str:
    """The value of a key among some lines, "" when it is not there or none."""
    prefix = f"{key}:"
    found = next((line.strip() for line in lines if line.strip().startswith(prefix)), "")
    value = found.removeprefix(prefix).strip()
    return "" if value in NONE else value


def _nested(lines: list[str], key: str) -> list[str]:
    """The lines that are indented below the line of a key."""
    start = next((i for i, line in enumerate(lines) if line.strip().startswith(f"{key}:")), None)
    if start is None:
        return []
    depth = _indent(lines[start])
    nested = []
    for line in lines[start + 1 :]:
        if line.strip() and _indent(line) <= depth:
            break
        nested.append(line)
    return nested


def _below(lines: list[str], key: str) -> list[str]:
    return [line.strip() for line in _nested(lines, key) if line.strip()]


def _quantities(lines: list[str], key: str) -> dict[str, str | int | float]:
    pairs = (line.rpartition(":") for line in _below(lines, key))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
