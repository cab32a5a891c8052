"""The few requests that the cluster itself makes to its API server, without a client library."""

import base64
import http.client
import json
import os
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Api:
    """Requests with the kubeconfig's certificate; nothing is cached and no connection kept."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        address = urlsplit(cluster["server"])
        self._host, self._port = address.hostname or "", address.port or 443
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._context = ssl.create_default_context(cadata=authority)
        _load_pair(self._context, user)

    def get(self, path: str) -> Any:
        """GET a path whose answer is JSON; errors as of `get_text`."""
        return json.loads(self.get_text(path))

    def get_text(self, path: str, timeout: float = 60.0) -> str:
        """GET a path; raises OSError when there is no answer, RuntimeError for a status that is not 200."""
        connection = http.client.HTTPSConnection(self._host, self._port, context=self._context, timeout=timeout)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"{path}: {error!r}") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status} {body[:300].decode(errors='replace')}")
        return body.decode(errors="replace")

    def wait_ready(self, timeout: float) -> None:
        """Wait until the API server says that it is ready."""
        until = time.monotonic() + timeout
        while True:
            try:
                self.get_text("/readyz")
            except (OSError, RuntimeError) as error:
                if time.monotonic() > until:
                    raise TimeoutError(f"the API server was not ready within {timeout:.0f} s: {error}") from error
                time.sleep(0.1)
            else:
                return


def _load_pair(context: ssl.SSLContext, user: dict[str, str]) -> None:
    # ssl takes a certificate from a file only; one in memory leaves nothing on the disk.
    descriptor = os.memfd_create("pair")
    try:
        for name in ("client-certificate-data", "client-key-data"):
            os.write(descriptor, base64.b64decode(user[name]))
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
