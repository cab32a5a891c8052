"""`lockgate-operator cleanup`: deletes the ClusterPolicies while the operator still runs, and waits for their removal.

Run before `helm uninstall` takes the operator away (a pre-delete hook of the chart): a policy whose finalizer nobody
handles would stay for ever. When no operator does in time, the finalizer is taken off, and what stays is said.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from lockgate.controllers.settings import MANAGER
from lockgate.kube.api import Api
from lockgate.kube.errors import NotFound
from lockgate.kube.resources import CLUSTERPOLICIES
from lockgate.operands.policy_state import FINALIZER


async def main(argv: Sequence[str]) -> int:
    """Exit 0 when no policy is left."""
    parser = argparse.ArgumentParser(prog="lockgate-operator cleanup", description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--timeout", type=float, default=180.0, metavar="SECONDS")
    flags = parser.parse_args(argv)
    async with Api.connect() as api:
        try:
            return await clean(api, flags.timeout)
        except NotFound:
            return _say("there are no ClusterPolicies in this cluster")


async def clean(api: Api, timeout: float, pause: float = 1.0) -> int:
    """Delete every ClusterPolicy and wait `timeout` seconds for the operator to finish."""
    for policy in await api.list(CLUSTERPOLICIES):
        _say(f"ClusterPolicy {policy.name}: deleting")
        await api.delete(CLUSTERPOLICIES, policy.name, uid=policy.metadata.uid)
    for _ in range(max(1, round(timeout / pause))):
        if not await api.list(CLUSTERPOLICIES):
            return _say("operands and labels are gone")
        await asyncio.sleep(pause)
    return await _force(api, timeout)


async def _force(api: Api, timeout: float) -> int:
    for policy in await api.list(CLUSTERPOLICIES):
        kept = [finalizer for finalizer in policy.metadata.finalizers if finalizer != FINALIZER]
        _say(
            f"ClusterPolicy {policy.name}: no operator removed it in {timeout:.0f} s; letting it go. Its labels "
            "stay: kubectl label nodes --all nvidia.com/gpu.present- (and nvidia.com/gpu.deploy.*)"
        )
        patch = {"metadata": {"finalizers": kept, "resourceVersion": policy.metadata.resource_version}}
        await api.patch(CLUSTERPOLICIES, policy.name, patch, field_manager=MANAGER)
    return 0


def _say(text: str) -> int:
    print(json.dumps({"cleanup": text}) if not sys.stdout.isatty() else text, flush=True)
    return 0
