"""Whatever is lacking in the facts, planning answers or says in one line what it cannot do: never a traceback."""

import io
import random
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.capacity.actions import ActionError, AddNode, Cordon, Drain, LoseGpus, MigConfig, Replicas
from lockgate.capacity.ask import asking
from lockgate.capacity.fit import fit
from lockgate.capacity.overview import UnreadableError, all_pods, measured, overview, scene_of
from lockgate.capacity.table import By
from lockgate.capacity.what_if import what_if
from lockgate.cli.render import capacity_text
from lockgate.cli.render import fit as fit_text
from lockgate.cli.render import what_if as what_if_text
from lockgate.collect.offline import from_path
from lockgate.model.facts import SECTIONS, Snapshot

ROOT = Path(__file__).parents[2]
SOURCES = [*sorted((ROOT / "tests/bundles").glob("*.tgz")), ROOT / "docs/explanation/capacity"]
ACTIONS = [Drain, Cordon, lambda n: Replicas(n, 4), lambda n: MigConfig(n, "all-balanced"), lambda n: LoseGpus(n, 1)]


@cache
def facts(source: Path) -> Any:
    return msgspec.to_builtins(from_path(str(source), io.BytesIO()))


def thinned(value: Any, chance: float, dice: random.Random) -> Any:
    """The same with some of its keys and items gone."""
    if isinstance(value, dict):
        return {k: thinned(v, chance, dice) for k, v in value.items() if dice.random() > chance}
    if isinstance(value, tuple | list):
        return [thinned(v, chance, dice) for v in value if dice.random() > chance]
    return value


def snapshot(source: Path, chance: float, seed: int) -> Snapshot:
    dice, whole = random.Random(seed), facts(source)
    kept = {name: thinned(section, chance, dice) for name, section in whole.items() if isinstance(section, tuple)}
    kept |= {name: whole[name] for name in ("readings", "node_files", "logs")}  # made by collectors, so always whole
    return msgspec.convert({name: kept.get(name, {"reason": "not read"}) for name in SECTIONS}, Snapshot)


def test_whole_facts_are_read() -> None:
    assert sum(len(scene_of(snapshot(source, 0.0, 0)).nodes) for source in SOURCES if "plugin" not in source.name) > 30


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SOURCES), st.floats(0, 0.5), st.integers(0, 2**32), st.integers(1, 3))
def test_planning_never_fails_on_partial_facts(source: Path, chance: float, seed: int, copies: int) -> None:
    seen = snapshot(source, chance, seed)
    with suppress(UnreadableError):
        scene = scene_of(seen)
        for by in By:
            capacity_text.as_text(overview(seen, by))
        measured(seen)
        for ask in (
            asking("default", gpus=2),
            asking("default", mig="1g.5gb"),
            asking("default", gpus=1, memory="1Gi"),
        ):
            fit_text.as_text(fit(ask, scene, copies))
        node = next(iter(scene.nodes), "none")
        for action in (*(make(node) for make in ACTIONS), AddNode("Tesla-T4")):
            with suppress(ActionError):
                what_if_text.as_text(what_if([action], scene, all_pods(seen)))
