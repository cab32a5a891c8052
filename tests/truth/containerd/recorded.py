"""The recorded truth: sets of configuration files and what real containerd binaries made of them."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.containerd import ConfigError, Effective, Release, View, resolve
from lockgate.containerd.values import plain

FOLDER = Path(__file__).parent.parent
ROOT = "/ROOT"
TOP_LEVEL = f"{ROOT}/config.toml"


@dataclass(frozen=True)
class Recorded:
    """One set of files and what each release said of it."""

    id: str
    files: dict[str, str]
    truth: dict[str, dict[str, Any]]


def recorded() -> list[Recorded]:
    """All recorded sets."""
    with lzma.open(FOLDER / "containerd_config.jsonl.xz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [Recorded(row["id"], {f"{ROOT}/{p}": t for p, t in row["files"].items()}, row["truth"]) for row in rows]


def model(files: dict[str, str], release: str) -> dict[str, Any]:
    """What our model says of a set of files, in the shape of the record."""
    found = resolve(files, TOP_LEVEL, Release.parse(release), view=View.DUMP)
    return {"error": found.message} if isinstance(found, ConfigError) else summary(found)


def summary(found: Effective) -> dict[str, Any]:
    """The recorded keys of an effective configuration."""
    handlers = {
        name: {"runtime_type": h.runtime_type, "BinaryName": h.binary_name, "SystemdCgroup": h.systemd_cgroup}
        for name, h in found.handlers.items()
    }
    return {
        "version": plain(found.document["version"]),
        "handlers": handlers,
        "default_runtime_name": found.default_runtime_name,
        "enable_cdi": found.enable_cdi,
        "cdi_spec_dirs": None if found.cdi_spec_dirs is None else list(found.cdi_spec_dirs),
        "registry_config_path": found.registry_config_path,
        "registry_mirrors": sorted(found.registry_mirrors),
        "sandbox_image": found.sandbox_image,
        "disabled_plugins": list(found.disabled_plugins),
        "imports": sorted(found.imports) if found.release.family.plugin_by_id else list(found.imports),
    }


def differences(seen: dict[str, Any], ours: dict[str, Any], release: str) -> list[str]:
    """What the model gets wrong, one line a key; empty when it is right."""
    if ("error" in seen) != ("error" in ours):
        return [f"containerd: {seen.get('error', 'loads')} | model: {ours.get('error', 'loads')}"]
    if "error" in seen:
        agreed = ours["error"] in seen["error"] or "panic" in seen["error"]
        return [] if agreed else [f"containerd says: {seen['error']} | model says: {ours['error']}"]
    unordered = {"registry_mirrors"} | ({"imports"} if release.startswith("1.") else set())
    wrong = []
    for key, value in seen.items():
        theirs = sorted(value or []) if key in unordered else (value or {}) if key == "handlers" else value
        if theirs != ours[key]:
            wrong.append(f"{key}: containerd {theirs} | model {ours[key]}")
    return wrong
