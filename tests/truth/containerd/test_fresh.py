"""Fresh sets of files each time: the model says what the real programs say. `LOCKGATE_TRUTH_SEED` repeats a run."""

import os
import time
from collections import Counter

import pytest

from lockgate.containerd import Plan, Wanted, plan_dropin
from lockgate.containerd.values import plain_table
from tests.truth.containerd import daemon
from tests.truth.containerd.compare import compare, differences, normal
from tests.truth.containerd.grammar import ROOT, TOP_LEVEL, generate
from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.programs import ready

pytestmark = pytest.mark.truth


@pytest.fixture(scope="module")
def binaries() -> list[Binary]:
    return ready(build=False)


@pytest.fixture(scope="module")
def seed() -> str:
    return os.environ.get("LOCKGATE_TRUTH_SEED", str(int(time.time())))


def test_the_whole_dump_of_fresh_sets_is_as_the_model_says(binaries: list[Binary], seed: str) -> None:
    wrong = {}
    for at in range(60):
        files = generate(f"{seed}:{at}")
        for binary in binaries:
            outcome = compare(binary, files)
            if not outcome.agreed:
                wrong[f"{seed}:{at} on {binary.release}"] = outcome.differences
    assert wrong == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="a daemon starts in namespaces of its own, which needs root")
def test_daemons_start_and_fail_as_the_model_says(binaries: list[Binary], seed: str) -> None:
    wrong = {}
    for at in range(15):
        files = generate(f"daemon {seed}:{at}")
        for binary in binaries:
            if found := daemon.differences(binary, files, Counter()):
                wrong[f"daemon {seed}:{at} on {binary.release}"] = found
    assert wrong == {}


def test_a_planned_drop_in_makes_of_the_real_program_what_was_planned(binaries: list[Binary], seed: str) -> None:
    wrong = {}
    for at in range(40):
        files = generate(f"plan {seed}:{at}")
        for binary in binaries:
            wanted, dropin = Wanted(default="nvidia" if at % 3 == 0 else None), f"{ROOT}/conf.d/zzz-lockgate.toml"
            plan = plan_dropin(files, TOP_LEVEL, binary.release, wanted, dropin, defaults=binary.defaults)
            if isinstance(plan, Plan):
                planned = {path: text for path, text in (files | dict(plan.files)).items() if text is not None}
                real = binary.dump(planned).document
                if real is None or differences(normal(real), normal(plain_table(plan.expected.document))):
                    wrong[f"plan {seed}:{at} on {binary.release}"] = planned
    assert wrong == {}
