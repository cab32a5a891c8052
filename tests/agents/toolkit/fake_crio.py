"""Answers CRI as a CRI-O would whose files `crio_files` understands, and ends on SIGHUP, to be started again.

A file `other` in its folder makes it forget our handlers (documentation that is wrong).
"""

import asyncio
import signal
import sys
from pathlib import Path

from grpc import aio

from lockgate.agents.toolkit.engines.crio_files import Effective, resolve
from tests.agents.toolkit.fake_containerd import Handlers, text_field

RELEASE = "1.33.0"


async def serve(root: Path) -> int:
    files = (root / "etc/config.toml", *sorted((root / "etc/conf.d").iterdir()))
    loaded = resolve({str(path): path.read_text() for path in files})
    if not isinstance(loaded, Effective):
        print(f"crio: {loaded.message}", flush=True)
        return 1
    names = [name for name in loaded.handlers if not ((root / "other").exists() and name.startswith("nvidia"))]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, stop.set)
    answers = Handlers(RELEASE, "")
    answers.answers = {
        "/runtime.v1.RuntimeService/Version": text_field(2, b"cri-o") + text_field(3, RELEASE.encode()),
        "/runtime.v1.RuntimeService/Status": b"".join(text_field(3, text_field(1, name.encode())) for name in names),
    }
    server = aio.server()
    server.add_generic_rpc_handlers((answers,))
    (root / "run/c.sock").unlink(missing_ok=True)
    server.add_insecure_port(f"unix:{root / 'run/c.sock'}")
    await server.start()
    await stop.wait()
    return 129


if __name__ == "__main__":
    sys.exit(asyncio.run(serve(Path(sys.argv[1]))))
