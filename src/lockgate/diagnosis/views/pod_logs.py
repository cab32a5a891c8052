"""The logs by the pod that wrote them, told apart once: a cluster may have thousands of either."""

from collections import defaultdict

from lockgate.model.facts import Log, Logs


class PodLogs:
    """What was read of each pod."""

    def __init__(self, logs: Logs) -> None:
        self._by_pod: dict[tuple[str, str], list[Log]] = defaultdict(list)
        for log in logs:
            self._by_pod[log.namespace, log.pod].append(log)

    def of(self, namespace: str, pod: str) -> Logs:
        """A pod's, as they were read; none where none was."""
        return tuple(self._by_pod.get((namespace, pod), ()))


def pod_logs(logs: Logs) -> PodLogs:
    """Tell the logs apart."""
    return PodLogs(logs)
