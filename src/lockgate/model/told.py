"""What nobody read and a text tells of: a pod of which some parts are not shown, a node with the sum of its pods."""

from enum import StrEnum
from typing import Final

from lockgate.model.objects import Node, Pod


class Part(StrEnum):
    """What a text may not show of a pod."""

    SPEC = "spec"  # nor its status, beyond what its events say
    RUNTIME_CLASS = "spec.runtimeClassName"
    HOST_USERS = "spec.hostUsers"  # which no kubectl describes
    FINALIZERS = "metadata.finalizers"  # nor these, nor when it was deleted


# They stand for a name that is not told where the pod has one. They are words, since they are read in sentences;
# evidence and commands never have them (`diagnosis.as_told`).
UNSEEN_NODE: Final = "its node"
UNSEEN_CONTAINER: Final = "its container"
# In a command it is what a person has to fill in, and so it stands there as kubectl's own help writes it.
UNSEEN_NAMESPACE: Final = "NAMESPACE"


class ToldPod(Pod, frozen=True):
    """A pod with the parts of it that its text does not show: a rule must not decide by those."""

    unseen: tuple[Part, ...] = ()


def is_unseen(pod: Pod, part: Part) -> bool:
    """Whether a part of a pod is not known; of what was read itself everything is."""
    return isinstance(pod, ToldPod) and (part in pod.unseen or Part.SPEC in pod.unseen)


class ToldNode(Node, frozen=True):
    """A node as a description shows it: what all pods on it request together, and their names (namespace/name).

    Who requests which GPU is not shown; pods that are finished are not among them.
    """

    requested: dict[str, str] = {}
    pods: tuple[str, ...] = ()
