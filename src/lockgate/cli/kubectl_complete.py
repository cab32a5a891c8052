"""`kubectl_complete-gpu`: what kubectl asks when Tab is pressed behind `kubectl gpu`; it knows names of the cluster.

kubectl hands over the words that were typed, the last one unfinished, and reads one suggestion a line (with a tab and a
description) and `:DIRECTIVE` on the last line (cobra's ShellCompDirective: 2 no space behind it, 4 no file names).
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from lockgate.cli.completing import Flag, Verb, verbs

NO_SPACE: Final = 2
NO_FILES: Final = 4
_SECONDS: Final = "2s"  # who presses Tab does not wait longer
_MOST: Final = 200
# Flags whose value is the name of an object.
_NAMED: Final = {"--namespace": "namespace", "--probe-namespace": "namespace"} | dict.fromkeys(
    ("--node", "--probe", "--cordon", "--uncordon", "--drain"), "node"
)

Suggestion = tuple[str, str]  # the word, and what it means


def main() -> NoReturn:
    """Print suggestions for the words on the command line."""
    found, directive = suggestions(sys.argv[1:])
    for word, meaning in found:
        sys.stdout.write(f"{word}\t{meaning}\n" if meaning else f"{word}\n")
    sys.stdout.write(f":{directive}\n")
    raise SystemExit(0)


def suggestions(words: Sequence[str]) -> tuple[list[Suggestion], int]:
    """What may stand at the place of the last word, and how the shell has to go on."""
    *before, typed = words or [""]
    known = verbs()
    if not before:
        return [(v.name, v.help) for v in known if v.name.startswith(typed)], NO_FILES
    verb = next((v for v in known if v.name == before[0]), None)
    if verb is None:
        return [], NO_FILES
    flag = _flag(verb, before[-1])
    if flag is not None and flag.takes:
        return _values(flag, before[:-1], typed)
    if typed.startswith("-"):
        return [(n, f.help) for f in verb.flags for n in f.names if n.startswith(typed)], NO_FILES
    return _arguments(verb, before, typed)


def _flag(verb: Verb, word: str) -> Flag | None:
    return next((f for f in verb.flags if word in f.names), None)


def _values(flag: Flag, before: Sequence[str], typed: str) -> tuple[list[Suggestion], int]:
    kind = next((_NAMED[name] for name in flag.names if name in _NAMED), "")
    values = _names(kind, before) if kind else flag.choices
    return [(value, "") for value in values if value.startswith(typed)], 0 if flag.files else NO_FILES


def _arguments(verb: Verb, before: Sequence[str], typed: str) -> tuple[list[Suggestion], int]:
    if not verb.words:
        return [], 0  # paths
    if "/" in typed:
        kind, _, begun = typed.partition("/")
        return [(f"{kind}/{name}", "") for name in _names(kind, before) if name.startswith(begun)], NO_FILES
    fitting = [(w, "") for w in verb.words if w.startswith(typed)]
    return fitting, NO_FILES | (NO_SPACE if any(w.endswith("/") for w, _ in fitting) else 0)


# --- names of the cluster


def _names(kind: str, before: Sequence[str]) -> list[str]:
    """The names of a kind, as the flags that were typed say where; none where the cluster does not answer at once."""
    from lockgate.collect.errors import InputError
    from lockgate.collect.once import run_once
    from lockgate.kube.errors import ApiError, Unreachable

    try:
        return sorted(run_once(_listed(kind, _where(before))))[:_MOST]
    except (ApiError, Unreachable, InputError):
        return []


def _where(before: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("-n", "--namespace", default="")
    parser.add_argument("--kubeconfig")
    parser.add_argument("--context")
    return parser.parse_known_args(list(before))[0]


async def _listed(kind: str, where: argparse.Namespace) -> list[str]:
    from lockgate.collect.live import Access, connect
    from lockgate.diagnosis.operand_names import short_name
    from lockgate.diagnosis.target import ALIASES
    from lockgate.kube.resources import ALL, DAEMONSETS

    meant = next((k for k, aliases in ALIASES.items() if kind.lower() in aliases), "")
    access = Access(kubeconfig=where.kubeconfig, context=where.context, request_timeout=_SECONDS)
    async with connect(access) as api:
        if meant == "Operand":
            return [name for ds in await api.list(DAEMONSETS) if (name := short_name(ds))]
        resource = next((r for r in ALL if r.kind == meant), None)
        if resource is None:
            return []
        namespace = (where.namespace or api.namespace or "default") if resource.namespaced else None
        return [each.name for each in await api.list(resource, namespace)]


if __name__ == "__main__":
    main()
