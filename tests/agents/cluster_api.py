"""An API server that remembers what was applied, and a kubeconfig that leads an agent's process to it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.kube.fake_server import Answer, FakeServer, Request, fake_server, status


class ClusterApi:
    def __init__(self, *, nfd: bool = False) -> None:
        self.nfd = nfd
        self.failing = False
        self.applied: list[tuple[str, str, dict[str, Any]]] = []
        self.server: FakeServer | None = None

    def answer(self, request: Request) -> Answer:
        if self.failing:
            return status(403, "Forbidden", "may not")
        if request.method == "PATCH":
            body = json.loads(request.body)
            self.applied.append((request.path, request.query["fieldManager"], body))
            return Answer(body)
        if request.path == "/apis/nfd.k8s-sigs.io/v1alpha1":
            return Answer({"kind": "APIResourceList"}) if self.nfd else Answer(b"404 page not found", 404)
        return Answer({"metadata": {"name": request.path.rpartition("/")[2], "uid": "uid-1"}})

    def last(self, path: str) -> dict[str, Any]:
        """What was applied last to this path; empty while nothing was."""
        return next((body for where, _, body in reversed(self.applied) if where == path), {})


@asynccontextmanager
async def cluster_api(kubeconfig: Path, *, nfd: bool = False) -> AsyncIterator[ClusterApi]:
    made = ClusterApi(nfd=nfd)
    async with fake_server(made.answer) as server:
        made.server = server
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        kubeconfig.write_text(json.dumps(config))
        yield made
