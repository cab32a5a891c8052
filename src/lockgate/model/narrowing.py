"""What a bundle was narrowed to: whose events and logs are in it. Its lists stay whole, so that numbers stay true."""

from functools import cache

import msgspec

from lockgate.model.label_query import Labels, Term, parse_query


class Narrowing(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of a namespace, or with some labels; both empty: everybody's.

    `besides` are the namespaces of operands, whose events are there all the same. Raises LabelQueryError for a selector
    that is none.
    """

    namespace: str = ""
    selector: str = ""
    besides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.selector:
            parse_query(self.selector)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not (self.namespace or self.selector)

    @property
    def text(self) -> str:
        """Whose they are, in words: `pods with app=train in namespace ml`."""
        labels = f" with {self.selector}" if self.selector else ""
        return f"pods{labels}" + (f" in namespace {self.namespace}" if self.namespace else "")

    @property
    def without_operands(self) -> "Narrowing":
        """What was asked for, and nothing beside it."""
        return msgspec.structs.replace(self, besides=())

    def covers_namespace(self, namespace: str) -> bool:
        """Whether the events of a namespace's workloads are there."""
        return self.namespace in ("", namespace) or namespace in self.besides

    def covers(self, namespace: str, labels: Labels) -> bool:
        """Whether the events of a pod are there."""
        if namespace in self.besides:
            return True
        return self.covers_namespace(namespace) and (not self.selector or _question(self.selector)(labels))


WHOLE = Narrowing()


@cache
def _question(selector: str) -> Term:
    return parse_query(selector)
