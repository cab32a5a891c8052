"""The rules, one a file: `rules/<area>/<fault>.py`, its cases beside it. The id is the place: `scheduling/all-held`."""

import importlib
import pkgutil

from lockgate.diagnosis.rule import Rule


def all_rules() -> tuple[Rule, ...]:
    """Every rule of the package, in the order of ids; whatever a module declares with `@rule` is found."""
    modules = (importlib.import_module(name) for name in _modules())
    found = [r for module in modules for r in vars(module).values() if isinstance(r, Rule)]
    return tuple(sorted(found, key=lambda r: r.id))


def _modules() -> list[str]:
    return [m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.") if not m.ispkg]
