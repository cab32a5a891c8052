"""What a node's status says of an extended resource, event by event: the kubelet's device manager as a pure model.

Source: kubernetes 1.37.2, pkg/kubelet/cm/devicemanager/manager.go, and a real kubelet of that release. Moments are
seconds of any one clock.

| event | capacity | allocatable |
| --- | --- | --- |
| ListAndWatch message | all its devices | the healthy ones |
| stream ends | as it was | 0 |
| five minutes without the plugin | 0, the key stays | 0 |
| kubelet starts again | 0 | 0 |
| Node object deleted and made anew | no key | no key |

`node.status` follows up to ten seconds later, and with it the scheduler.
"""

from collections.abc import Iterable, Mapping
from typing import Final, assert_never

import msgspec

GRACE: Final = 300.0  # seconds: endpointStopGracePeriod
REPORT: Final = 10.0  # seconds: nodeStatusUpdateFrequency


class Listed(msgspec.Struct, frozen=True):
    """The plugin of a resource sent its complete list: device id -> healthy."""

    resource: str
    devices: dict[str, bool]


class StreamEnded(msgspec.Struct, frozen=True):
    """The plugin's stream ended: stopped, crashed, or its socket was removed with it."""

    resource: str


class KubeletStarted(msgspec.Struct, frozen=True):
    """The kubelet started again; its checkpoint has names, but no devices. Without it (a wiped node) not even names."""

    checkpoint: bool = True


class NodeRecreated(msgspec.Struct, frozen=True):
    """The Node object was deleted and the kubelet registered it anew, while it ran with nothing known."""


Happening = Listed | StreamEnded | KubeletStarted | NodeRecreated


class Account(msgspec.Struct, frozen=True):
    """One resource of node.status.

    `devices`: id -> healthy; None when the device manager has forgotten the resource, and only node.status still has
    its key. `away_since`: since when its plugin is away; None: it is there.
    """

    devices: dict[str, bool] | None = None
    away_since: float | None = None

    def at(self, now: float) -> "Account":
        """The account at this moment: five minutes without its plugin, and the device manager forgets."""
        expired = self.away_since is not None and now - self.away_since > GRACE
        return FORGOTTEN if expired else self


FORGOTTEN: Final = Account()


class Reported(msgspec.Struct, frozen=True):
    """What node.status says of one resource."""

    capacity: int
    allocatable: int


Ledger = Mapping[str, Account]
"""Every resource that has a key in node.status."""


def after(ledger: Ledger, happening: Happening, now: float) -> Ledger:
    """The ledger after one event."""
    match happening:
        case Listed(resource, devices):
            return {**ledger, resource: Account(dict(devices))}
        case StreamEnded(resource):
            return _after_stream_end(ledger, resource, now)
        case KubeletStarted(checkpoint):
            return {
                resource: Account({}, now) if checkpoint and account.at(now).devices is not None else FORGOTTEN
                for resource, account in ledger.items()
            }
        case NodeRecreated():
            return {}
        case _:
            assert_never(happening)


def _after_stream_end(ledger: Ledger, resource: str, now: float) -> Ledger:
    """Every device counts as unhealthy; the time of the first loss counts."""
    account = ledger.get(resource, FORGOTTEN)
    if account.devices is None or account.away_since is not None:
        return ledger
    return {**ledger, resource: Account(dict.fromkeys(account.devices, False), now)}


def reported(ledger: Ledger, now: float) -> dict[str, Reported]:
    """What the kubelet reports at this moment, a row a key of node.status."""
    return {resource: _report(account.at(now)) for resource, account in ledger.items()}


def _report(account: Account) -> Reported:
    devices = account.devices or {}
    return Reported(len(devices), sum(devices.values()))


def replay(history: Iterable[tuple[float, Happening]]) -> Ledger:
    """The ledger after a whole history, in its order."""
    ledger: Ledger = {}
    for now, happening in history:
        ledger = after(ledger, happening, now)
    return ledger
