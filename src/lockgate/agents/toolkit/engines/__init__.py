"""The container runtimes that the toolkit changes, each behind the same few questions."""

from lockgate.agents.toolkit.engines.engine import Engine, Look, Place, Planned

__all__ = ["Engine", "Look", "Place", "Planned"]
