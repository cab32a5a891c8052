"""`lint`: what is wrong with a node's containerd configuration and CDI specifications, line by line, and what heals it.

One rule a file: `lint/<area>/<fault>.py`, its cases beside it. The id is the place: `containerd/cri-disabled`.
"""

import importlib
import pkgutil

from lockgate.lint.rule import LintRule


def all_rules() -> tuple[LintRule, ...]:
    """Every rule of the package, in the order of ids."""
    modules = (importlib.import_module(name) for name in _modules())
    found = [r for module in modules for r in vars(module).values() if isinstance(r, LintRule)]
    return tuple(sorted(found, key=lambda r: r.id))


def _modules() -> list[str]:
    """The modules of the areas; what stands beside them is machinery."""
    areas = [m.name for m in pkgutil.iter_modules(__path__) if m.ispkg]
    packages = [importlib.import_module(f"{__name__}.{area}") for area in areas]
    return [m.name for p in packages for m in pkgutil.iter_modules(p.__path__, f"{p.__name__}.")]
