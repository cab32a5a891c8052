"""systemd of the node, asked over its system bus: restarts a unit and waits for the job's result.

Interface: org.freedesktop.systemd1.Manager, RestartUnit and JobRemoved (man 5 org.freedesktop.systemd1).
"""

import asyncio
from pathlib import Path
from typing import Any, Final

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, message_bus, new_method_call
from jeepney.io.asyncio import DBusRouter, open_dbus_router
from jeepney.wrappers import unwrap_msg

BUS: Final = "run/dbus/system_bus_socket"  # below the host's root
_NAME: Final = "org.freedesktop.systemd1"
_MANAGER: Final = DBusAddress("/org/freedesktop/systemd1", bus_name=_NAME, interface="org.freedesktop.systemd1.Manager")
_REMOVED: Final = MatchRule(type="signal", interface=_MANAGER.interface, member="JobRemoved", path=_MANAGER.object_path)


class SystemdError(Exception):
    """systemd could not be asked, refused, or did not do it; the text says which unit and why."""


async def restart_unit(bus: Path, unit: str, timeout: float) -> None:
    """Restart a unit and wait until systemd is done with it, at most `timeout` seconds. Raises SystemdError."""
    try:
        async with asyncio.timeout(timeout), open_dbus_router(f"unix:path={bus}") as router:
            result = await _restart(router, unit)
    except TimeoutError as error:
        raise SystemdError(f"{unit}: systemd was not done with its restart within {timeout:.0f} s") from error
    except DBusErrorResponse as error:
        raise SystemdError(f"{unit}: systemd answers {error.name}: {' '.join(map(str, error.data))}") from error
    except (OSError, EOFError) as error:
        raise SystemdError(f"{unit}: systemd cannot be asked at {bus}: {error}") from error
    if result != "done":
        raise SystemdError(f"{unit}: its restart ended as {result!r}: see journalctl -u {unit}")


async def _restart(router: DBusRouter, unit: str) -> str:
    """The job's result: done, failed, canceled, timeout, dependency, skipped."""
    with router.filter(_REMOVED, bufsize=1000) as removed:
        await _call(router, message_bus.AddMatch(_REMOVED))
        await _call(router, new_method_call(_MANAGER, "Subscribe"))
        (job,) = await _call(router, new_method_call(_MANAGER, "RestartUnit", "ss", (unit, "replace")))
        while True:
            _, path, _, result = (await removed.get()).body
            if path == job:
                return str(result)


async def _call(router: DBusRouter, message: Any) -> tuple[Any, ...]:
    """The answer's values. Raises DBusErrorResponse."""
    return tuple(unwrap_msg(await router.send_and_get_reply(message)))
