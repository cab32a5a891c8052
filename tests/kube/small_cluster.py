"""A small API server in memory: objects with versions, watches, finalizers, conflicts, merge patches and a rough apply.

What it does as the real one does: resource versions, generations, 404/409/410, a watch that continues from a version,
deletion that waits for finalizers. What it does not do: schemas, field ownership, admission: the end-to-end tests have
the real kube-apiserver.
"""

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from tests.kube.fake_server import Answer, Request, status

Object = dict[str, Any]


class SmallCluster:
    """`handle` is a FakeServer's handler. `oldest` is the first version that a watch may still continue from."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.history: list[tuple[int, str, str, Object]] = []
        self.version = 100
        self.oldest = 0
        self.refuse: dict[str, Answer] = {}  # "METHOD path" -> what it is answered with
        self.calls: list[tuple[str, str]] = []
        self._changed = asyncio.Condition()

    # --- by hand

    def put(self, path: str, manifest: Object) -> Object:
        """Create or replace an object at `/api/v1/nodes/gpu-a`, as somebody else would."""
        known = self.objects.get(path)
        found = copy.deepcopy(manifest)
        metadata = found.setdefault("metadata", {})
        metadata.setdefault("name", path.rsplit("/", 1)[1])
        if "/namespaces/" in path:
            metadata["namespace"] = path.split("/namespaces/")[1].split("/")[0]
        metadata.setdefault("uid", known["metadata"]["uid"] if known else f"uid-{self.version + 1}")
        metadata.setdefault("creationTimestamp", f"2026-01-01T00:00:{len(self.objects) % 60:02d}Z")
        changed = known is None or known.get("spec") != found.get("spec")
        before = known["metadata"].get("generation", 0) if known else 0
        metadata["generation"] = before + 1 if changed else before
        return self._store(path, found, "MODIFIED" if known else "ADDED")

    def drop(self, path: str) -> None:
        found = self.objects.pop(path)
        self._note("DELETED", path, found)

    def forget_history(self) -> None:
        """Compact: watches from before now are answered 410."""
        self.oldest = self.version + 1
        self.version += 1

    # --- as a server

    def handle(self, request: Request) -> Answer:
        self.calls.append((request.method, request.path))
        if refused := self.refuse.get(f"{request.method} {request.path}"):
            return refused
        if request.query.get("watch"):
            return self._watch(request)
        match request.method:
            case "GET":
                return self._read(request)
            case "POST":
                return self._create(request)
            case "PATCH":
                return self._patch(request)
            case "PUT":
                return self._replace(request)
            case "DELETE":
                return self._delete(request)
        return status(405, "MethodNotAllowed")

    def _read(self, request: Request) -> Answer:
        if request.path in self.objects:
            return Answer(self.objects[request.path])
        items = self._under(request)
        if items or request.path.rsplit("/", 1)[1].endswith("s"):
            return Answer({"metadata": {"resourceVersion": str(self.version)}, "items": items})
        return status(404, "NotFound", f"{request.path} not found")

    def _under(self, request: Request) -> list[Object]:
        return [o for path, o in self.objects.items() if _listed(path, request.path) and _selected(o, request.query)]

    def _create(self, request: Request) -> Answer:
        body = msgspec.json.decode(request.body)
        path = f"{request.path}/{body['metadata']['name']}"
        if path in self.objects:
            return status(409, "AlreadyExists", f"{path} already exists")
        return Answer(self.put(path, body), 201)

    def _patch(self, request: Request) -> Answer:
        path = request.path.removesuffix("/status")
        body = msgspec.json.decode(request.body)
        known = self.objects.get(path)
        applied = request.headers["content-type"] == "application/apply-patch+yaml"
        if applied and known is None and path == request.path:
            return Answer(self.put(path, body), 201)
        if known is None:
            return status(404, "NotFound", f"{path} not found")
        if _outdated(body, known):
            return status(409, "Conflict", "the object has been modified")
        merged = _merge(known, body)
        answer = self.put(path, merged) if merged != known else known
        self._finish(path)
        return Answer(answer)

    def _replace(self, request: Request) -> Answer:
        body, known = msgspec.json.decode(request.body), self.objects.get(request.path)
        if known is None:
            return status(404, "NotFound")
        if _outdated(body, known):
            return status(409, "Conflict", "the object has been modified")
        return Answer(self.put(request.path, body))

    def _delete(self, request: Request) -> Answer:
        known = self.objects.get(request.path)
        if known is None:
            return status(404, "NotFound", f"{request.path} not found")
        wanted = msgspec.json.decode(request.body).get("preconditions", {}).get("uid")
        if wanted and wanted != known["metadata"]["uid"]:
            return status(409, "Conflict", "another object of that name")
        marked = copy.deepcopy(known)
        marked["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
        self.put(request.path, marked)
        self._finish(request.path)
        return Answer(marked)

    def _finish(self, path: str) -> None:
        metadata = self.objects[path]["metadata"]
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            self.drop(path)

    def _watch(self, request: Request) -> Answer:
        since = int(request.query.get("resourceVersion") or self.version)
        return Answer(stream=self._events(request.path, request.query, since))

    async def _events(self, collection: str, query: dict[str, str], since: int) -> AsyncIterator[bytes]:
        if since < self.oldest:
            yield _line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
            return
        while True:
            for version, change, path, found in [e for e in self.history if e[0] > since]:
                since = version
                if _listed(path, collection) and _selected(found, query):
                    yield _line(change, found)
            async with self._changed:
                await self._changed.wait()

    def _store(self, path: str, found: Object, change: str) -> Object:
        self.objects[path] = found
        self._note(change, path, found)
        return found

    def _note(self, change: str, path: str, found: Object) -> None:
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, change, path, copy.deepcopy(found)))
        asyncio.get_running_loop().create_task(self._wake())

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def _listed(path: str, collection: str) -> bool:
    folder, _, _name = path.rpartition("/")
    if folder == collection:
        return True
    root, _, kind = collection.rpartition("/")
    return folder.startswith(f"{root}/namespaces/") and folder.endswith(f"/{kind}")


def _selected(found: Object, query: dict[str, str]) -> bool:
    labels = found["metadata"].get("labels", {})
    wanted = [pair.split("=") for pair in query.get("labelSelector", "").split(",") if pair]
    return all(labels.get(key) == value for key, value in wanted)


def _outdated(body: Object, known: Object) -> bool:
    asked = body.get("metadata", {}).get("resourceVersion")
    return bool(asked) and asked != known["metadata"]["resourceVersion"]


def _merge(base: Any, patch: Any) -> Any:
    if not isinstance(patch, dict) or not isinstance(base, dict):
        return patch
    merged = {**base, **{key: _merge(base.get(key, {}), value) for key, value in patch.items() if value is not None}}
    return {key: value for key, value in merged.items() if patch.get(key, "kept") is not None}


def _line(change: str, found: Object) -> bytes:
    return msgspec.json.encode({"type": change, "object": found}) + b"\n"
