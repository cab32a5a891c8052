"""Answers CRI's Version and Status as a containerd of a release would, and ends on SIGHUP as every containerd does.

What it has loaded is what `lockgate.containerd` says of its files when it starts; files that it refuses end it, with
status 1. A file `hang` in its folder makes it ignore SIGHUP, `slow` makes it start after 8 s, `late` makes it serve 6 s
after it has read its files (once), `deaf` makes it serve the socket without answering, `other` makes it forget the
handlers of drop-ins (a model that is wrong).
"""

import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

from grpc import GenericRpcHandler, HandlerCallDetails, RpcMethodHandler, aio, unary_unary_rpc_method_handler

from lockgate.containerd import ConfigError, Effective, Release, resolve
from lockgate.containerd.values import plain
from lockgate.host.containerd_files import read_files


def text_field(number: int, value: bytes) -> bytes:
    """A length-delimited protobuf field."""
    size, out = len(value), bytes([number << 3 | 2])
    while size > 0x7F:
        out += bytes([size & 0x7F | 0x80])
        size >>= 7
    return out + bytes([size]) + value


def config_json(loaded: Effective, forget: bool) -> str:
    """`info["config"]`, the keys that are read."""
    runtimes: dict[str, Any] = {
        name: {"runtimeType": handler.runtime_type, "options": plain(handler.table).get("options")}  # type: ignore[union-attr]
        for name, handler in loaded.handlers.items()
        if not (forget and name.startswith("nvidia"))
    }
    config: dict[str, Any] = {
        "containerd": {"defaultRuntimeName": loaded.default_runtime_name, "runtimes": runtimes},
        "cdiSpecDirs": loaded.cdi_spec_dirs,
    }
    return json.dumps(config | ({"enableCDI": loaded.enable_cdi} if loaded.enable_cdi is not None else {}))


class Handlers(GenericRpcHandler):
    def __init__(self, release: str, config: str) -> None:
        self.answers = {
            "/runtime.v1.RuntimeService/Version": text_field(2, b"containerd") + text_field(3, release.encode()),
            "/runtime.v1.RuntimeService/Status": text_field(
                2, text_field(1, b"config") + text_field(2, config.encode())
            ),
        }

    def service(self, details: HandlerCallDetails) -> RpcMethodHandler | None:
        answer = self.answers.get(details.method)
        return None if answer is None else unary_unary_rpc_method_handler(self._answer(answer))

    def _answer(self, answer: bytes) -> Any:
        async def behaviour(request: bytes, context: Any) -> bytes:
            return answer

        return behaviour


async def serve(root: Path, release: str) -> int:
    files = read_files(Path("/"), str(root / "etc/config.toml"), Release.parse(release))
    loaded = resolve(files, str(root / "etc/config.toml"), Release.parse(release))
    if isinstance(loaded, ConfigError):
        print(f"containerd: {loaded}", flush=True)
        return 1
    if (root / "late").exists():
        (root / "late").unlink()
        time.sleep(6)
    stop = asyncio.Event()
    ignore = (root / "hang").exists()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, (lambda: None) if ignore else stop.set)
    server = aio.server()
    if not (root / "deaf").exists():
        server.add_generic_rpc_handlers((Handlers(release, config_json(loaded, (root / "other").exists())),))
    (root / "run/c.sock").unlink(missing_ok=True)
    server.add_insecure_port(f"unix:{root / 'run/c.sock'}")
    await server.start()
    await stop.wait()
    return 129


def main() -> int:
    root, release = Path(sys.argv[1]), sys.argv[2]
    with (root / "starts").open("a") as starts:
        starts.write("x")
    if (root / "slow").exists():
        time.sleep(8)
    return asyncio.run(serve(root, release))


if __name__ == "__main__":
    sys.exit(main())
