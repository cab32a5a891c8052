"""Where the API server is and who we are: kubeconfig files as kubectl reads them, else the pod's service account.

lightkube reads clusters, users and certificates. Added here: several files in `KUBECONFIG`, kubectl's order of places,
the current exec-plugin interface, impersonation, and texts that say which file is wrong.
"""

import logging
import os
import ssl
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2
from lightkube.config import client_adapter
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.core.exceptions import ConfigError as LightkubeConfigError

from lockgate.kit.plain_yaml import PlainYamlError, parse_documents
from lockgate.kube.credentials import ExecPlugin
from lockgate.kube.direct import Direct
from lockgate.kube.errors import ConfigError

_FILE_KEYS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_LARGEST = 4 << 20  # certificates in it are a few KiB each
_MOST_VALUES = 100_000  # some thousand clusters
_IN_CLUSTER = "the pod's service account"
_READ_AT_ONCE = 256 * 1024  # bytes, as many as asyncio takes from a socket: a quarter less CPU for long lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """An HTTP client bound to one API server, the namespace of its context, and words for error messages."""

    client: httpx2.AsyncClient
    server: str
    namespace: str
    source: str


def connect(
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    as_user: str | None = None,
    as_groups: Sequence[str] = (),
    timeout: float = 30.0,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = Path(SERVICE_ACCOUNT),
) -> Connection:
    """Choose the configuration as kubectl does and open a client for it; nothing is sent yet.

    `timeout` is seconds for connecting and between two reads. Raises ConfigError.
    """
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs a line for each request
    config, source = _choose(kubeconfig, context, environ, service_account)
    server = config.cluster.server
    try:
        settings = _settings(config, timeout)
    except (LightkubeConfigError, OSError, ValueError, AssertionError) as error:
        # Those of lightkube keep keys and certificates in files, as long as they live.
        traceback.clear_frames(error.__traceback__)
        raise ConfigError(f"{source}: {error}") from error
    if config.user.exec:
        settings["auth"] = ExecPlugin(config.user.exec, environ)
    if _is_loopback(server) or not getproxies():
        settings["transport"] = Direct(settings["verify"])
    else:  # httpx2 chooses the proxy
        from httpcore2 import AsyncHTTP11Connection

        AsyncHTTP11Connection.READ_NUM_BYTES = _READ_AT_ONCE
    compress = source != _IN_CLUSTER and not _is_loopback(server)
    settings["headers"] = _headers(as_user, as_groups, compress=compress)
    return Connection(client=httpx2.AsyncClient(**settings), server=server, namespace=config.namespace, source=source)


def _choose(
    kubeconfig: Path | None, context: str | None, environ: Mapping[str, str], service_account: Path
) -> tuple[SingleConfig, str]:
    paths = [kubeconfig] if kubeconfig else _default_paths(environ)
    present = [path for path in paths if path.is_file()]
    if not present and not kubeconfig and (service_account / "token").is_file():
        return _single(KubeConfig.from_service_account(str(service_account)), None, _IN_CLUSTER), _IN_CLUSTER
    if not present:
        places = ", ".join(map(str, paths)) or "KUBECONFIG is empty"
        raise ConfigError(f"no kubeconfig found ({places}); give --kubeconfig, or set KUBECONFIG")
    source = ", ".join(map(str, present))
    documents = [_read(path) for path in present]
    try:
        merged = KubeConfig.from_dict(_merge(documents), fname=present[0])
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{source}: not a kubeconfig: {error}") from error
    return _single(merged, context, source), source


def _default_paths(environ: Mapping[str, str]) -> list[Path]:
    if text := environ.get("KUBECONFIG"):
        return [Path(part) for part in text.split(os.pathsep) if part]
    return [Path(environ.get("HOME") or Path.home()) / ".kube" / "config"]


def _single(config: KubeConfig, context: str | None, source: str) -> SingleConfig:
    try:
        found = config.get(context)
    except LightkubeConfigError as error:
        known = ", ".join(sorted(map(str, config.contexts))) or "none"
        raise ConfigError(f"{source}: {error} (contexts: {known})") from error
    except KeyError as error:
        raise ConfigError(f"{source}: the context names {error}, which is not in the file") from error
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"{source}: not a kubeconfig: {error}") from error
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path}: not a kubeconfig: larger than {_LARGEST >> 20} MiB")
        documents = parse_documents(path.read_bytes(), _MOST_VALUES)
    except PlainYamlError as error:
        raise ConfigError(f"{path}: not a kubeconfig: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(documents) > 1:
        raise ConfigError(f"{path}: not a kubeconfig: {len(documents)} YAML documents where one is expected")
    document = documents[0] if documents else None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: not a kubeconfig: expected a mapping, found {type(document).__name__}")
    for section in ("clusters", "contexts", "users"):
        if not isinstance(document.get(section) or [], list):
            raise ConfigError(f"{path}: not a kubeconfig: {section} is not a list")
        for entry in document.get(section) or []:
            _make_absolute(entry, path.absolute().parent)
    return document


def _make_absolute(entry: Any, folder: Path) -> None:
    """Paths in a kubeconfig are relative to its own folder, which a merge would forget."""
    if not isinstance(entry, dict):
        return
    for body in (entry.get("cluster"), entry.get("user")):
        if isinstance(body, dict):
            body.update({key: str(folder / body[key]) for key in _FILE_KEYS if body.get(key)})


def _merge(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of several files the first to name a thing wins (kubectl's rule)."""
    merged: dict[str, Any] = {"current-context": None, "clusters": [], "contexts": [], "users": []}
    for document in documents:
        merged["current-context"] = merged["current-context"] or document.get("current-context") or None
        for section in ("clusters", "contexts", "users"):
            known = {entry["name"] for entry in merged[section]}
            merged[section] += [entry for entry in document.get(section) or [] if entry["name"] not in known]
    return merged


def _settings(config: SingleConfig, timeout: float) -> dict[str, Any]:
    """What a client of httpx2 is made with."""
    assert config.user, "Missing user"
    server, trust_env = config.cluster.server, not _is_loopback(config.cluster.server)
    if urlsplit(server).scheme == "http":
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody; to read whom the system trusts takes a while
    else:
        verify = client_adapter.verify_cluster(config.cluster, config.user, config.abs_file, trust_env=trust_env)
    auth = client_adapter.user_auth(config.user)
    return {
        "base_url": server,
        "verify": verify,
        "auth": auth,
        "timeout": httpx2.Timeout(timeout),
        "trust_env": trust_env,
    }


def _headers(as_user: str | None, as_groups: Sequence[str], *, compress: bool) -> list[tuple[str, str]]:
    """Compression saves a slow line and costs 3 s of CPU for 100,000 pods: not inside the cluster or on loopback."""
    headers = [("Accept", "application/json"), ("Accept-Encoding", "gzip" if compress else "identity")]
    if as_user:
        headers += [("Impersonate-User", as_user), *(("Impersonate-Group", group) for group in as_groups)]
    return headers


def _is_loopback(server: str) -> bool:
    """As Go's HTTP client: a proxy from the environment is never used for this machine itself."""
    host = urlsplit(server).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
