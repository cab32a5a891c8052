"""`-n`, `-A` and `-l` of verbs that look at a whole cluster: they narrow what is shown, and never what is added up.

A node's numbers count the pods of all namespaces, whatever is asked for: what another team holds is held.
"""

import argparse
from typing import TYPE_CHECKING

from lockgate.cli.sources import FactsError, complain

if TYPE_CHECKING:
    from lockgate.diagnosis.target import Target
    from lockgate.model.facts import Snapshot
    from lockgate.model.label_query import Term


def add_namespace_arguments(parser: argparse.ArgumentParser, narrowed: str) -> None:
    """`-n` and `-A`; `narrowed` is what is shown of a namespace only."""
    parser.add_argument(
        "-n", "--namespace", default="", help=f"only {narrowed} of this namespace; nodes' numbers stay whole"
    )
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="all namespaces (default), also beside -n")


def add_selector_argument(
    parser: argparse.ArgumentParser, narrowed: str, example: str = "pool=a100,tier!=test"
) -> None:
    """`-l`, by labels of nodes, or of the pods that `narrowed` and `example` speak of."""
    parser.add_argument("-l", "--selector", default="", metavar="LABELS", help=f"only {narrowed}: {example}")


def namespace_wanted(options: argparse.Namespace, snapshot: "Snapshot") -> str:
    """The namespace that is shown, "" for all; -A wins, as with kubectl. Raises FactsError where it is not there."""
    from lockgate.diagnosis.pods_asked import check_namespace
    from lockgate.diagnosis.target import TargetMissingError, UnreadTargetError

    if options.all_namespaces or not options.namespace:
        return ""
    try:
        check_namespace(snapshot, options.namespace)
    except UnreadTargetError as error:
        complain(str(error), 0)  # what is shown is true all the same
    except TargetMissingError as error:
        raise FactsError(str(error), 2) from None
    return str(options.namespace)


def pods_wanted(options: argparse.Namespace, snapshot: "Snapshot", selector: str = "") -> "Target":
    """Whose pods are asked about: those with some labels, of one namespace, or of the cluster. Raises FactsError."""
    from lockgate.diagnosis.target import CLUSTER, SELECTED, Target

    namespace = namespace_wanted(options, snapshot)
    if not selector:
        return Target("Namespace", namespace) if namespace else Target(CLUSTER, "")
    _question(selector)
    return Target(SELECTED, selector, namespace)


def nodes_wanted(options: argparse.Namespace, snapshot: "Snapshot") -> frozenset[str] | None:
    """The names of the nodes that `-l` asks for, None for all; raises FactsError where none has such labels."""
    from lockgate.model.facts import Missing

    if not options.selector or isinstance(snapshot.known_nodes, Missing):
        return None
    fits = _question(options.selector)
    found = frozenset(node.name for node in snapshot.known_nodes if fits(node.metadata.labels))
    if not found:
        some = f" of those that are known ({cut.reason})" if isinstance(cut := snapshot.nodes, Missing) else ""
        raise FactsError(f'no node{some} has labels "{options.selector}": see `kubectl get nodes --show-labels`', 2)
    return found


def _question(selector: str) -> "Term":
    """What `-l` asks of labels; raises FactsError."""
    from lockgate.model.label_query import LabelQueryError, parse_query

    try:
        return parse_query(selector)
    except LabelQueryError as error:
        raise FactsError(str(error), 2) from None
