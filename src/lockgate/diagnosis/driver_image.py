"""The driver container's image: what its tag says of driver version, kernel and operating system, and that it is gone.

The operator makes the tag: `<version>-<os>`, for precompiled modules `<branch>-<kernel>-<os>` (gpu-operator,
controllers/object_controls.go, resolveDriverTag).
"""

import re
from typing import Final

import msgspec

from lockgate.diagnosis.stage import statuses
from lockgate.diagnosis.views.words import Said, Words
from lockgate.model.objects import Pod

_IMAGE: Final = re.compile(
    r"(?<![^\s\"])(?P<image>[^\s\"]*/(?:driver|vgpu-manager):(?P<version>\d{3}[\d.]*)-(?:(?P<kernel>\d+\.\d+\.\d+[^\s\"]*)-)?"
    r"(?P<os>[a-z]+[\d.]*))(?=[\s\",;]|: |$)"
)
# containerd, CRI-O and registries say it in these words.
_ABSENT: Final = re.compile(r"not found|manifest unknown")


class LostImage(msgspec.Struct, frozen=True):
    """A driver image that no registry has; `kernel` is "" where its modules are built on the node."""

    name: str
    version: str
    kernel: str
    os: str
    said: Said


def lost_driver_image(pod: Pod, words: Words) -> LostImage | None:
    """The driver image that the pod waits for and that its registry does not have; None for anything else."""
    wanted = [s.image for s in statuses(pod) if s.state.waiting] + [c.image for c in pod.spec.containers]
    said = words.find(re.compile(rf"{_IMAGE.pattern}.*?(?:{_ABSENT.pattern})"))
    if said is not None:
        return _lost(said.match, said)
    named = next((m for image in wanted if (m := _IMAGE.search(image))), None)
    absent = words.find(re.compile(rf"[Ii]mage.*(?:{_ABSENT.pattern})")) if named else None
    return _lost(named, absent) if named and absent else None


def _lost(match: re.Match[str], said: Said) -> LostImage:
    return LostImage(match["image"], match["version"], match["kernel"] or "", match["os"], said)
