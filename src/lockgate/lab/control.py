"""How a test drives a simulated machine: lose a GPU, raise an XID, change a value."""

import json
import socket
from pathlib import Path
from typing import Any

import msgspec

from lockgate.lab.address import socket_address
from lockgate.lab.codes import Event
from lockgate.lab.state import Driver, Gpu


class Control:
    """A client of the simulator's socket; a connection a request, so that it survives the simulator's restarts.

    A GPU is named by minor number, UUID or PCI bus id. ValueError repeats what the simulator refused.
    """

    def __init__(self, path: Path | str, timeout: float = 10.0) -> None:
        self.path = Path(path)
        self.timeout = timeout

    def state(self) -> Driver:
        """Everything the simulator knows."""
        return msgspec.convert(self._ask("state"), Driver)

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs, in PCI order."""
        return self.state().gpus

    def set(self, gpu: int | str, **fields: Any) -> Gpu:
        """Change fields of a GPU as state.Gpu names them; nested objects are given as dicts and merged."""
        return msgspec.convert(self._ask("set", gpu=gpu, fields=fields), Gpu)

    def xid(self, gpu: int | str, code: int) -> int:
        """Raise an XID; the number of event sets that will hear it."""
        return self.event(gpu, Event.XID, code)

    def event(self, gpu: int | str, type: int, data: int = 0, **instances: int) -> int:
        """Raise any event, optionally of a `gpu_instance` and `compute_instance`; how many event sets hear it."""
        return int(self._ask("event", gpu=gpu, type=int(type), data=data, **instances))

    def kernel_log(self) -> list[str]:
        """What NVIDIA's kernel module has written of XIDs, as dmesg prints it."""
        return msgspec.convert(self._ask("kernel-log"), list[str])

    def lose(self, gpu: int | str, xid: int = 79) -> int:
        """The GPU falls off the bus, with its XID; every later call on it answers GPU_IS_LOST."""
        return int(self._ask("lose", gpu=gpu, xid=xid))

    def restore(self, gpu: int | str) -> Gpu:
        """The GPU is back on the bus, whatever it was doing."""
        return self.set(gpu, lost=False, reset_required=False, recovery_action=0)

    def reset(self, gpu: int | str) -> Gpu:
        """Reset the GPU: pending modes and repairs take effect. ValueError while a process holds it."""
        return msgspec.convert(self._ask("reset", gpu=gpu), Gpu)

    def unload_driver(self) -> None:
        """Every call answers DRIVER_NOT_LOADED."""
        self._ask("driver", fields={"loaded": False})

    def load_driver(self, version: str | None = None) -> None:
        """The driver is back; another version than the libraries' makes them answer a version mismatch."""
        self._ask("driver", fields={"loaded": True} | ({"version": version} if version else {}))

    def fail(self, function: str, code: int) -> None:
        """From now on the NVML or CUDA function of this name ends with this return code."""
        self._ask("driver", fields={"failures": {**self.state().failures, function: code}})

    def mend(self) -> None:
        """Forget every forced failure."""
        self._ask("driver", fields={"failures": {}, "cuda_error": 0})

    def cuda_error(self, code: int) -> None:
        """cuInit ends with this CUresult, such as 802; 0 lets the state decide again."""
        self._ask("driver", fields={"cuda_error": code})

    def _ask(self, verb: str, **arguments: Any) -> Any:
        request = json.dumps({"verb": verb, **arguments}).encode() + b"\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, socket_address(self.path) as address:
            connection.settimeout(self.timeout)
            connection.connect(address)
            connection.sendall(request)
            reply = msgspec.json.decode(connection.makefile("rb").readline(), type=dict[str, Any])
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply.get("ok")
