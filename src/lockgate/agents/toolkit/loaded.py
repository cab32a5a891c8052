"""What the running containerd has loaded against what the files should make it load."""

from collections.abc import Iterable, Iterator

from lockgate.containerd import Effective, Wanted
from lockgate.host.cri import Loaded, LoadedRuntime
from lockgate.model.node_state import Handler


def differences(loaded: Loaded, expected: Effective, wanted: Wanted) -> tuple[str, ...]:
    """How the loaded configuration differs in what we want of it; empty when it is what was meant."""
    found = [*_handlers(loaded, expected, wanted.handlers)]
    if wanted.enable_cdi and expected.enable_cdi is not None and loaded.enable_cdi is not True:
        found.append("containerd has not loaded enable_cdi = true")
    default = loaded.containerd.default_runtime_name
    if wanted.default and default != wanted.default:
        found.append(f'containerd\'s default runtime is "{default}", expected "{wanted.default}"')
    return tuple(found)


def _handlers(loaded: Loaded, expected: Effective, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        ours, theirs = expected.handlers.get(name), loaded.containerd.runtimes.get(name)
        if ours is None:
            continue  # the simulation has said so already
        if theirs is None:
            yield f'containerd has not loaded handler "{name}"'
        elif theirs.runtime_type != ours.runtime_type:
            yield f'handler "{name}" has runtime type "{theirs.runtime_type}", expected "{ours.runtime_type}"'
        elif _binary(theirs) != ours.binary_name:
            yield f'handler "{name}" runs "{_binary(theirs) or "runc"}", expected "{ours.binary_name or "runc"}"'


def _binary(runtime: LoadedRuntime) -> str:
    return str((runtime.options or {}).get("BinaryName") or "")


def handlers_of(loaded: Loaded) -> tuple[Handler, ...]:
    """The handlers as loaded, by name, as they are published."""
    return tuple(
        Handler(
            name=name,
            runtime_type=runtime.runtime_type,
            binary_name=_binary(runtime),
            systemd_cgroup=bool((runtime.options or {}).get("SystemdCgroup")),
        )
        for name, runtime in sorted(loaded.containerd.runtimes.items())
    )
