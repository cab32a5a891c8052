"""Tells that some objects changed, as the server says so: list, watch, and again where a watch ends. It never polls."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from lockgate.kube.errors import ApiError, Forbidden, Gone, Unreachable
from lockgate.kube.reader import Reader
from lockgate.kube.resources import Resource

PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds after failures in a row


async def follow(
    api: Reader,
    resource: Resource[Any],
    namespace: str,
    field_selector: str,
    changed: Callable[[], None],
    told: Callable[[str], None] = lambda text: None,
) -> None:
    """Call `changed` once what is there is known, and at every change after that, for ever.

    A first list that fails raises; later failures are told once each and tried again.
    """
    version = await _listed(api, resource, namespace, field_selector)
    changed()
    failures, complaint = 0, ""
    while True:
        try:
            before = version
            async for event in api.watch(resource, namespace, "", field_selector, version):
                version = event.object.metadata.resource_version or version
                failures, complaint = 0, ""
                if event.change != "BOOKMARK":
                    changed()
            if version == before:  # a server that ends every watch at once must not be asked without a pause
                await asyncio.sleep(PAUSES[0])
        except Gone:
            version = await _listed(api, resource, namespace, field_selector)
            changed()
        except Forbidden:
            raise
        except (ApiError, Unreachable) as error:
            if str(error) != complaint:
                told(f"{error}; trying again")
            complaint = str(error)
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            failures += 1


async def _listed(api: Reader, resource: Resource[Any], namespace: str, field_selector: str) -> str:
    return (await api.listing(resource, namespace, "", field_selector)).resource_version
