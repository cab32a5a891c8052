"""What the operator says: the conditions of its policy and of its drivers, the states and the log of its own pod."""

import re
from collections.abc import Iterator

from lockgate.diagnosis.views.pod_kinds import PodKinds
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.views.words import Said, words
from lockgate.model.facts import ClusterPolicies, Missing, NvidiaDrivers, Pods
from lockgate.model.finding import Evidence
from lockgate.model.objects import Condition, Pod

_LABEL = ("app", "gpu-operator")  # of NVIDIA's operator, and of ours


class OperatorWords:
    """Everything that an operator says of itself."""

    def __init__(self, conditions: tuple[tuple[str, Condition], ...], pods: Pods, logs: PodLogs | Missing) -> None:
        self._conditions, self.pods, self._logs = conditions, pods, logs

    def find(self, *patterns: re.Pattern[str]) -> Said | None:
        """The first condition that fits, else what its pod says."""
        return next((said for pattern in patterns for said in self._all(pattern)), None)

    def find_in_conditions(self, pattern: re.Pattern[str]) -> Said | None:
        """The first condition that fits: how things stand, where a log also keeps what is over."""
        return next(self._stated(pattern), None)

    def _all(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        yield from self._stated(pattern)
        for pod in self.pods:
            if found := words(pod, (), self._logs).find(pattern):
                yield found

    def _stated(self, pattern: re.Pattern[str]) -> Iterator[Said]:
        for place, condition in self._conditions:
            said = f"{condition.reason}: {condition.message}"
            if match := pattern.search(said):
                field = f"status.conditions[{condition.type}]"
                yield Said(match, Evidence(object=place, field=field, value=condition.status, verbatim=said[:500]))


def operator_words(
    pod_kinds: PodKinds,
    cluster_policies: ClusterPolicies | Missing,
    nvidia_drivers: NvidiaDrivers | Missing,
    pod_logs: PodLogs | Missing,
) -> OperatorWords:
    """Bring together what the operator says; what is not known says nothing."""
    policies = () if isinstance(cluster_policies, Missing) else cluster_policies
    drivers = () if isinstance(nvidia_drivers, Missing) else nvidia_drivers
    conditions = (
        *((f"nvidiadriver/{d.name}", c) for d in drivers for c in d.status.conditions),
        *((f"clusterpolicy/{p.name}", c) for p in policies for c in p.status.conditions),
    )
    return OperatorWords(conditions, tuple(pod_kinds.of(is_operator)), pod_logs)


def is_operator(pod: Pod) -> bool:
    """Whether a pod is the operator itself: by a label, since its name carries the release's."""
    return pod.metadata.labels.get(_LABEL[0]) == _LABEL[1]
