"""Whatever happens to the nodes, and whenever operators are replaced: the promises of a rollout hold."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rollout.fleet import Fleet, Machine

NODES = 5
happenings = st.lists(
    st.tuples(
        st.sampled_from([*["look"] * 6, *["tick"] * 6, "change", "refuse", "refuse", "die", "down", "mend", "mend"]),
        st.integers(0, NODES - 1),
    ),
    max_size=80,
)
fleets = st.builds(
    lambda budget, slow: Fleet([Machine(name=f"n{i}", revision=1) for i in range(NODES)], budget, slow),
    st.integers(1, 3),
    st.integers(1, 4),
)


def happen(fleet: Fleet, what: str, where: int) -> None:
    machine = list(fleet.machines.values())[where]
    match what:
        case "look":
            look_and_check(fleet)
        case "tick":
            fleet.tick()
        case "change":
            fleet.wanted += 1
        case "refuse":
            machine.refuses = True
        case "die":
            machine.dead = True
        case "down":
            machine.down = True
        case "mend":
            machine.refuses = machine.dead = machine.down = False


def look_and_check(fleet: Fleet) -> None:
    """One look; none of the promises may be broken by what it does."""
    failed = [m for m in fleet.machines.values() if changed_for_the_worse(fleet, m)]
    in_change = {m.name for m in fleet.machines.values() if is_in_change(m)}
    before = {m.name: m.pods for m in fleet.machines.values()}
    restarted = {m.name for m in fleet.machines.values() if not m.leaving} & {
        s.node for s in fleet.turn() if s_restarts(s)
    }
    assert not (failed and restarted), "it goes past a failed node"
    fresh = restarted - in_change  # who is in change already, under an older revision, takes no further node
    assert not fresh or len(restarted | in_change) <= fleet.budget, "more nodes in change than the budget allows"
    for name in restarted:
        assert fleet.machines[name].pods == before[name]
        assert fleet.machines[name].revision != fleet.wanted, "a node that has the revision is changed again"
        alone = fleet.machines[name].dead and not fleet.machines[name].refuses
        assert not alone, "a node is touched whose GPUs are gone for reasons of its own"


def s_restarts(step: object) -> bool:
    return type(step).__name__ == "Restart"


def is_in_change(machine: Machine) -> bool:
    """It is on its way with what it was given, whichever revision that is, and nothing is in the way."""
    moving = machine.leaving or machine.settling or not machine.checked
    return bool(moving and not (machine.dead or machine.refuses or machine.down))


def changed_for_the_worse(fleet: Fleet, machine: Machine) -> bool:
    """It has the wanted revision and its toolkit, or its GPUs, which were there before, do not work with it."""
    settled = machine.revision == fleet.wanted and not machine.leaving and not machine.settling and not machine.down
    return settled and (machine.refuses or (machine.dead and not machine.checked))


@settings(max_examples=400, deadline=None)
@given(fleets, happenings)
def test_never_beyond_the_budget_never_past_a_failure_and_no_node_twice(
    fleet: Fleet, history: list[tuple[str, int]]
) -> None:
    fleet.wanted = 2
    for what, where in history:
        happen(fleet, what, where)
    for machine in fleet.machines.values():
        assert len(machine.restarts) == len(set(machine.restarts)), f"{machine.name} twice for one revision"


@settings(max_examples=300, deadline=None)
@given(fleets, happenings)
def test_it_ends_everywhere_once_the_causes_are_gone(fleet: Fleet, history: list[tuple[str, int]]) -> None:
    fleet.wanted = 2
    for what, where in history:
        happen(fleet, what, where)
    for machine in fleet.machines.values():
        machine.refuses = machine.dead = machine.down = False
    for _ in range(NODES * 20):
        look_and_check(fleet)
        fleet.tick()
    assert {machine.revision for machine in fleet.machines.values()} == {fleet.wanted}
    assert all(fleet.works(machine) for machine in fleet.machines.values())


@settings(max_examples=200, deadline=None)
@given(fleets, st.lists(st.booleans(), max_size=60))
def test_each_node_is_changed_once_however_often_operators_look(fleet: Fleet, looks: list[bool]) -> None:
    fleet.wanted = 2
    for look in [*looks, *[True, False] * (NODES * 20)]:
        happen(fleet, "look" if look else "tick", 0)
    assert [machine.restarts for machine in fleet.machines.values()] == [[2]] * NODES


@settings(max_examples=200, deadline=None)
@given(fleets, st.sets(st.integers(0, NODES - 1), max_size=NODES))
def test_nodes_without_gpus_are_left_alone_hold_up_nobody_and_follow_when_mended(fleet: Fleet, dead: set[int]) -> None:
    machines = list(fleet.machines.values())
    for index in dead:
        machines[index].dead = True
    fleet.wanted = 2
    turns(fleet)
    assert [m.restarts for m in machines] == [[] if index in dead else [2] for index in range(NODES)]
    for machine in machines:
        machine.dead = False
    turns(fleet)
    assert [m.restarts for m in machines] == [[2]] * NODES


def turns(fleet: Fleet) -> None:
    for _ in range(NODES * 20):
        look_and_check(fleet)
        fleet.tick()
