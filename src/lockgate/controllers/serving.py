"""The operator's HTTP: `/healthz` and `/readyz` on one port, `/metrics` on another."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Readiness = Callable[[], str]  # what is still missing; empty when ready


class _Server(uvicorn.Server):
    """Leaves the process's signals alone: the operator stops the servers itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:  # type: ignore[explicit-override]  # typing.override came with 3.12
        yield


async def serve(app: Starlette, address: tuple[str, int]) -> None:
    """Serve until cancelled. Raises SystemExit when the port is taken."""
    host, port = address
    config = uvicorn.Config(app, host=host, port=port, lifespan="off", log_level="warning", access_log=False)
    server = _Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True  # closes its sockets; a cancelled server would leave them open
        await serving
        raise


def health_app(missing: Readiness) -> Starlette:
    """Alive as long as it answers; ready when nothing is missing."""

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        lacking = missing()
        return PlainTextResponse(f"{lacking or 'ok'}\n", status_code=503 if lacking else 200)

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz)])


def metrics_app(registry: CollectorRegistry) -> Starlette:
    """Prometheus' text format."""

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/metrics", metrics)])
