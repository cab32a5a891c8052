"""What makes a device unhealthy, and what makes it healthy again."""

import pytest

from lockgate.agents.device_plugin.devices import PluginDevice, enumerate_devices
from lockgate.agents.device_plugin.health import Health, Policy, after_probe, after_xid, parse_policy
from lockgate.agents.device_plugin.state import with_xid
from lockgate.gpu.values import Snapshot, XidEvent
from lockgate.model.node_state import SeenXid
from lockgate.xid.policies import APPLICATION_XIDS, NEEDS_RESET
from tests.agents.device_plugin.gpus import gpu, mig, snapshot

POLICY = Policy(quiet=60, good_probes=3)
WELL = snapshot(gpu(0), gpu(1))
DEVICES = enumerate_devices(WELL, "none", {}).devices


def _xid(code: int, uuid: str = "GPU-0", at: float = 0.0, health: Health | None = None) -> Health:
    return after_xid(health or {}, XidEvent(uuid, code), DEVICES, POLICY, at)


def _probes(health: Health, seen: Snapshot | str, *times: float) -> Health:
    for now in times:
        health = after_probe(health, seen, DEVICES, POLICY, now)
    return health


@pytest.mark.parametrize("code", sorted(APPLICATION_XIDS))
def test_a_faulty_program_does_not_make_a_gpu_unhealthy(code: int) -> None:
    assert _xid(code) == {}


def test_an_xid_strikes_its_gpu_only() -> None:
    assert set(_xid(63)) == {"GPU-0"}


def test_an_xid_whose_gpu_cannot_be_told_strikes_all() -> None:
    assert set(_xid(63, uuid="")) == {"GPU-0", "GPU-1"}


def test_after_a_passing_xid_the_gpu_returns_when_it_stayed_quiet() -> None:
    sick = _xid(63)
    assert set(_probes(sick, WELL, 1, 2, 3, 4, 59)) == {"GPU-0"}
    assert _probes(sick, WELL, 1, 2, 60) == {}


def test_another_xid_starts_the_quiet_time_anew() -> None:
    sick = _xid(63, at=50, health=_xid(63))
    assert set(_probes(sick, WELL, 60, 70, 80)) == {"GPU-0"}
    assert _probes(sick, WELL, 60, 70, 110) == {}


@pytest.mark.parametrize("code", sorted(NEEDS_RESET))
def test_an_xid_that_needs_a_reset_never_passes_by_waiting(code: int) -> None:
    sick = _probes(_xid(code), WELL, 1, 2, 3, 1e6)
    assert set(sick) == {"GPU-0"}
    assert sick["GPU-0"].reason == f"XID {code}: needs a GPU reset"


def test_after_a_reset_the_gpu_returns_when_it_answers_again() -> None:
    sick = _probes(_xid(79), snapshot(gpu(1), lost=(0,)), 1)
    assert sick["GPU-0"].reason == "GPU is lost, after XID 79"
    assert set(_probes(sick, WELL, 2, 3)) == {"GPU-0"}
    assert _probes(sick, WELL, 2, 3, 4) == {}


def test_a_lesser_xid_does_not_hide_that_a_reset_is_needed() -> None:
    sick = _xid(63, at=1, health=_xid(79))
    assert set(_probes(sick, WELL, 100, 200, 300)) == {"GPU-0"}


def test_a_new_fault_after_the_reset_counts_anew() -> None:
    sick = _probes(_xid(79), snapshot(gpu(1), lost=(0,)), 1)
    sick = _probes(sick, WELL, 2)
    sick = _xid(48, at=3, health=sick)
    assert set(_probes(sick, WELL, 4, 5, 6, 7)) == {"GPU-0"}


def test_a_lost_gpu_is_unhealthy_without_any_xid() -> None:
    sick = _probes({}, snapshot(gpu(0), lost=(1,)), 1)
    assert {id: sickness.reason for id, sickness in sick.items()} == {"GPU-1": "GPU is lost"}


def test_one_good_answer_between_bad_ones_is_not_recovery() -> None:
    lost = snapshot(gpu(0), lost=(1,))
    sick = _probes({}, lost, 1)
    for now in (2, 4, 6):
        sick = _probes(_probes(sick, WELL, now, now + 0.5), lost, now + 1)
    assert set(sick) == {"GPU-1"}


def test_without_a_driver_every_device_is_unhealthy_and_says_why() -> None:
    sick = _probes({}, "Driver Not Loaded", 1)
    assert {sickness.reason for sickness in sick.values()} == {"Driver Not Loaded"}
    assert _probes(sick, WELL, 2, 3, 4) == {}


def test_the_drivers_own_wish_for_a_reset_is_heard() -> None:
    sick = _probes({}, snapshot(gpu(0, recovery_action=1), gpu(1)), 1)
    assert {id: sickness.reason for id, sickness in sick.items()} == {"GPU-0": "the driver asks for a GPU reset"}
    assert _probes(sick, WELL, 2, 3, 4) == {}


def test_an_xid_of_a_mig_instance_strikes_that_device_only() -> None:
    devices = enumerate_devices(snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1)))), "mixed", {}).devices
    sick = after_xid({}, XidEvent("GPU-0", 63, gpu_instance=8, compute_instance=0), devices, POLICY, 0)
    assert set(sick) == {"MIG-0-1"}


def test_an_xid_of_the_whole_gpu_strikes_all_its_mig_devices() -> None:
    devices = enumerate_devices(snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1)))), "mixed", {}).devices
    sick = after_xid({}, XidEvent("GPU-0", 63), devices, POLICY, 0)
    assert set(sick) == {"MIG-0-0", "MIG-0-1"}


def test_health_of_a_device_that_left_is_forgotten() -> None:
    one: tuple[PluginDevice, ...] = DEVICES[:1]
    assert after_probe(_xid(79, uuid="GPU-1"), WELL, one, POLICY, 1) == {}


def _counts(disable: str, enable: str, code: int) -> bool:
    policy, _ = parse_policy(disable, enable)
    return after_xid({}, XidEvent("GPU-0", code), DEVICES, policy, 0) != {}


@pytest.mark.parametrize(
    ("disable", "enable", "counting", "ignored"),
    [
        ("", "", (48, 79), (13, 31, 109)),
        ("79", "", (48,), (13, 79)),
        ("xids", "", (), (48, 79)),
        ("ALL", "", (), (48, 79)),
        ("", "13", (13, 48), (31,)),
        ("", "all", (13, 48), ()),
        ("all", "all", (13, 48), ()),
        ("all", "79", (79,), (48,)),
        ("13 , nonsense,79", "", (48,), (13, 79)),
    ],
)
def test_which_xids_count_is_configurable(
    disable: str, enable: str, counting: tuple[int, ...], ignored: tuple[int, ...]
) -> None:
    assert [code for code in (*counting, *ignored) if _counts(disable, enable, code)] == list(counting)


def test_words_that_mean_nothing_are_named() -> None:
    _, warnings = parse_policy("13,nonsense", "")
    assert warnings == ("DP_DISABLE_HEALTHCHECKS: 'nonsense' is neither a number nor all or xids, and is ignored",)


def test_with_all_checks_disabled_a_lost_gpu_stays_advertised() -> None:
    policy, _ = parse_policy("all", "")
    assert after_probe({}, snapshot(gpu(0), lost=(1,)), DEVICES, policy, 1) == {}


def test_with_xids_disabled_a_lost_gpu_is_still_noticed() -> None:
    policy, _ = parse_policy("xids", "")
    assert set(after_probe({}, snapshot(gpu(0), lost=(1,)), DEVICES, policy, 1)) == {"GPU-1"}


def test_the_last_xids_are_known_each_once() -> None:
    seen: tuple[SeenXid, ...] = ()
    for code in (13, 13, 79, 13):
        seen = with_xid(seen, XidEvent("GPU-a", code))
    assert seen == (SeenXid(code=13, uuid="GPU-a"), SeenXid(code=79, uuid="GPU-a"))
    for code in range(100, 120):
        seen = with_xid(seen, XidEvent("", code))
    assert [x.code for x in seen] == list(range(112, 120))
