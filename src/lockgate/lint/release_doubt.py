"""Whether it is known how a subject's containerd reads its files, and what was assumed where it is not."""

from typing import Final

from lockgate.containerd.releases import Release, newest_known
from lockgate.lint.subject import Subject
from lockgate.model.finding import NotChecked

_ABOUT: Final = "containerd"
_HOW: Final = "give --release, or put the output of `containerd --version` into containerd-version.txt beside the files"
_NEWER: Final = "see whether a newer Lockgate knows it; if it is misspelt, give --release X.Y.Z"


def release_doubt(subject: Subject) -> NotChecked | None:
    """What is doubtful about the release; None where it is known, or there is no configuration that it would read."""
    if not subject.root:
        return None
    if subject.release is None:
        where = f" of {subject.name}" if subject.name else ""
        return NotChecked(_ABOUT, f"the containerd release{where} is not known", _HOW)
    return None if subject.release.is_known else NotChecked(_ABOUT, _assumed(subject.release), _NEWER)


def _assumed(release: Release) -> str:
    return (
        f"containerd {release} is no release that is known (the newest is {newest_known()}): taken for "
        f"{release.family.name.partition(' ')[0]}, which may be wrong"
    )
