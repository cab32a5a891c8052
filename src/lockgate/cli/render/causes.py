"""The root causes of a diagnosis, each with what follows from it at any depth, in the order in which they are told."""

from collections.abc import Iterable

from lockgate.model.finding import Finding


def causes(findings: Iterable[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """What stands behind a root and before the next one follows from it; one id may stand in several places."""
    found: list[tuple[Finding, list[Finding]]] = []
    for finding in findings:
        if finding.follows and found:
            found[-1][1].append(finding)
        else:
            found.append((finding, []))
    return found
