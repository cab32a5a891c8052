"""Credentials from an exec plugin (aws, gcloud, kubelogin): `client.authentication.k8s.io` v1 and v1beta1.

lightkube 1.0 knows only v1alpha1 and v1beta1, and asks again only after a 401; v1 is what current tools write.
"""

import asyncio
import datetime as dt
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

import httpx2
import msgspec

from lockgate.kube.errors import ConfigError

_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    expiration_timestamp: dt.datetime | None = None
    client_certificate_data: str = ""


class _Credential(msgspec.Struct, frozen=True, rename="camel"):
    status: _Status = _Status()


class ExecPlugin(httpx2.Auth):
    """Runs the plugin when there is no token, when it has expired, and once after a 401."""

    def __init__(self, plugin: Any, environ: Mapping[str, str]) -> None:
        if plugin.apiVersion not in _VERSIONS:
            known = ", ".join(_VERSIONS)
            raise ConfigError(f"exec plugin {plugin.command}: unknown apiVersion {plugin.apiVersion} (known: {known})")
        self._plugin = plugin
        self._environ = environ
        self._status: _Status | None = None

    async def async_auth_flow(  # type: ignore[explicit-override]  # typing.override came with 3.12
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        fresh = self._status is None or _expired(self._status)
        if fresh:
            self._status = await self._run()
        assert self._status is not None
        request.headers["Authorization"] = f"Bearer {self._status.token}"
        response = yield request
        if response.status_code == 401 and not fresh:
            self._status = await self._run()
            request.headers["Authorization"] = f"Bearer {self._status.token}"
            yield request

    async def _run(self) -> _Status:
        plugin = self._plugin
        info = json.dumps({"apiVersion": plugin.apiVersion, "kind": "ExecCredential", "spec": {"interactive": False}})
        environ = {**self._environ, "KUBERNETES_EXEC_INFO": info, **{v.name: v.value for v in plugin.env or ()}}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *(plugin.args or ()),
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"; {plugin.installHint}" if plugin.installHint else ""
            raise ConfigError(f"exec plugin {plugin.command}: {error.strerror}{hint}") from error
        output, errors = await process.communicate()
        if process.returncode:
            said = errors.decode(errors="replace").strip()[-300:]
            raise ConfigError(f"exec plugin {plugin.command} ended with {process.returncode}: {said}")
        return _parse(output, plugin.command)


def _parse(output: bytes, command: str) -> _Status:
    try:
        status = msgspec.json.decode(output, type=_Credential).status
    except msgspec.MsgspecError as error:
        raise ConfigError(f"exec plugin {command}: its answer is not an ExecCredential: {error}") from error
    if not status.token:
        what = "a client certificate, which is not supported" if status.client_certificate_data else "no token"
        raise ConfigError(f"exec plugin {command}: answered with {what}")
    return status


def _expired(status: _Status) -> bool:
    expires = status.expiration_timestamp
    return expires is not None and expires <= dt.datetime.now(dt.UTC) + dt.timedelta(seconds=10)
