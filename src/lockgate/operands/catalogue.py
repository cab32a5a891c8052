"""Every operand, found by walking the package, in the order in which NVIDIA's operator applies them."""

import pkgutil
from functools import lru_cache
from importlib import import_module

import lockgate.operands
from lockgate.operands.operand import Operand


@lru_cache(maxsize=1)
def operands() -> tuple[Operand, ...]:
    """All operands that Lockgate has, in order."""
    folders = [module.name for module in pkgutil.iter_modules(lockgate.operands.__path__) if module.ispkg]
    found = [import_module(f"lockgate.operands.{folder}").OPERAND for folder in folders]
    return tuple(sorted(found, key=lambda operand: operand.order))
