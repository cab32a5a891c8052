"""`lockgate-operator` runs the operator; `lockgate-operator cleanup` takes the policy away before uninstalling."""

import asyncio
import logging
import os
import signal
import sys

from lockgate.controllers import cleanup
from lockgate.controllers.operator import LeaseLostError, Operator
from lockgate.controllers.settings import Settings, read_settings
from lockgate.kit.garbage import collect_seldom
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, ConfigError, Unreachable


def main(argv: list[str] | None = None) -> int:
    """Exit status 0 after an orderly stop, 1 when the cluster or the lease failed, 2 for wrong flags."""
    argv = sys.argv[1:] if argv is None else argv
    collect_seldom()
    try:
        if argv[:1] == ["cleanup"]:
            return asyncio.run(cleanup.main(argv[1:]))
        settings = read_settings(argv, os.environ)
        logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        asyncio.run(_run(settings))
    except (ConfigError, Unreachable, ApiError) as error:
        print(f"lockgate-operator: {error}", file=sys.stderr)
        return 1
    except BaseExceptionGroup as group:
        if group.subgroup(LeaseLostError) is None:
            raise
        print("lockgate-operator: the lease is lost, another operator may work now", file=sys.stderr)
        return 1
    return 0


async def _run(settings: Settings) -> None:
    work = asyncio.current_task()
    assert work is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    async with Api.connect() as api:
        try:
            await Operator(settings, api).run()
        except asyncio.CancelledError:
            logging.getLogger(__name__).info("stopped")


if __name__ == "__main__":
    sys.exit(main())
