"""What a set of containerd configuration files amounts to on each release, and what drop-in to write.

Pure: files come in as path to text (`Files`), results go out as values. Start at `resolve`, `plan_dropin` and
`lost_handlers`.
"""

from lockgate.containerd.dropin import Plan, plan_dropin, plan_removal
from lockgate.containerd.dropin_check import Change, Refusal
from lockgate.containerd.dropin_node import HANDLERS, Wanted
from lockgate.containerd.effective import Effective, Handler, resolve
from lockgate.containerd.imports import Directory, File, Files, Unreadable
from lockgate.containerd.load import ConfigError, View
from lockgate.containerd.releases import FAMILIES, Family, Release
from lockgate.containerd.traps import Loss, LostHandler, handlers_in, lost_handlers
from lockgate.containerd.validate import CriProblem, cri_problems
from lockgate.containerd.values import BUILT_IN, Leaf, Origin, Table

__all__ = [
    "BUILT_IN",
    "FAMILIES",
    "HANDLERS",
    "Change",
    "ConfigError",
    "CriProblem",
    "Directory",
    "Effective",
    "Family",
    "File",
    "Files",
    "Handler",
    "Leaf",
    "Loss",
    "LostHandler",
    "Origin",
    "Plan",
    "Refusal",
    "Release",
    "Table",
    "Unreadable",
    "View",
    "Wanted",
    "cri_problems",
    "handlers_in",
    "lost_handlers",
    "plan_dropin",
    "plan_removal",
    "resolve",
]
