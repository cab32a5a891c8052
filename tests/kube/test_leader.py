"""Leader election: one leads, the next takes over when it stops or vanishes, never two."""

import asyncio
from collections.abc import Awaitable, Callable

from lockgate.kube.api import Api
from lockgate.kube.leader import Election, Timing
from tests.kube.fake_server import FakeServer, fake_api, status
from tests.kube.small_cluster import SmallCluster

LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/op"
QUICK = Timing(lease=1, renew_deadline=0.4, retry=0.05)
Body = Callable[[SmallCluster, Api, FakeServer], Awaitable[None]]


def run(body: Body) -> None:
    async def main() -> None:
        cluster = SmallCluster()
        async with fake_api(cluster.handle) as (server, api, _):
            await body(cluster, api, server)

    asyncio.run(asyncio.wait_for(main(), 20))


def candidate(api: Api, name: str, timing: Timing = QUICK) -> Election:
    return Election(api, namespace="ns", name="op", identity=name, timing=timing)


def holder(cluster: SmallCluster) -> str:
    found: str = cluster.objects[LEASE]["spec"]["holderIdentity"]
    return found


def test_the_first_candidate_leads_and_renews() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        one = candidate(api, "one")
        await one.win()
        first = cluster.objects[LEASE]["spec"]["renewTime"]
        holding = asyncio.create_task(one.hold())
        await asyncio.sleep(0.3)
        assert not holding.done()
        assert cluster.objects[LEASE]["spec"]["renewTime"] > first
        assert cluster.objects[LEASE]["spec"]["leaseTransitions"] == 0
        holding.cancel()

    run(body)


def test_the_second_waits_while_the_first_renews() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        one, two = candidate(api, "one"), candidate(api, "two")
        await one.win()
        holding, waiting = asyncio.create_task(one.hold()), asyncio.create_task(two.win())
        await asyncio.sleep(1.6)  # longer than a lease lasts
        assert not waiting.done()
        assert holder(cluster) == "one"
        holding.cancel()
        waiting.cancel()

    run(body)


def test_the_second_takes_over_when_the_first_vanishes() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        await candidate(api, "one").win()
        await candidate(api, "two").win()
        assert holder(cluster) == "two"
        assert cluster.objects[LEASE]["spec"]["leaseTransitions"] == 1

    run(body)


def test_the_second_takes_over_at_once_when_the_first_stops_in_order() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        patient = Timing(lease=3600, renew_deadline=1800, retry=0.02)
        one = candidate(api, "one", patient)
        await one.win()
        await one.release()
        await candidate(api, "two", patient).win()
        assert holder(cluster) == "two"

    run(body)


def test_a_leader_that_cannot_renew_gives_up_before_its_lease_ends() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        one = candidate(api, "one")
        await one.win()
        cluster.refuse[f"GET {LEASE}"] = status(500, "InternalError", "etcd is down")
        started = asyncio.get_running_loop().time()
        await one.hold()
        assert asyncio.get_running_loop().time() - started < QUICK.lease

    run(body)


def test_a_leader_whose_lease_another_took_stops() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        one = candidate(api, "one")
        await one.win()
        taken = dict(cluster.objects[LEASE])
        taken["spec"] = {**taken["spec"], "holderIdentity": "two"}
        cluster.put(LEASE, taken)
        await one.hold()
        assert holder(cluster) == "two"

    run(body)


def test_releasing_a_lease_that_another_holds_leaves_it() -> None:
    async def body(cluster: SmallCluster, api: Api, server: FakeServer) -> None:
        await candidate(api, "one").win()
        await candidate(api, "two").release()
        assert holder(cluster) == "one"

    run(body)
