"""Directories of CDI files as people and programs write them, good and bad, from a seed."""

import json
import random
from typing import Any

import yaml

Directories = list[dict[str, bytes] | None]

# fmt: off
VENDORS = ("nvidia.com", "k8s.device-plugin.nvidia.com", "vendor.com", "v", "1vendor", "ven dor", "v-", "vé", "")
CLASSES = ("gpu", "device", "g.pu", "gpu-", "9", "", "a/b", "gp=u")
DEVICES = (
    "0", "1", "all", "GPU-aaaa", "0:1", "dev.1", "dev_1", "-x", "x-", "é", "aéb", "a b", "", "x\n", "\u200b", "x" * 300,
)
VERSIONS = (
    "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0", "v0.6.0", "0.1.0", "0.2.0", "2.0.0", "",
)
FILES = (
    "a.json", "b.yaml", "c.yaml", "nvidia.com-gpu.yaml", "d.yml", ".hidden.json", ".json", "e.JSON", "f.yaml.tmp", "g",
)
SCALARS = (
    "null", "~", "yes", "on", "5", "-1", "0x1f", "0755", "0o17", "1.0", "1e3", "2024-01-01", "!!str 5", "!!int x",
    "!!binary aGk=", "!!binary ?", "'5'", "[1]", "{a: b}", "4294967296", "1_000", ".5", "<<", "[null, null]",
)
HOOKS = ("createContainer", "prestart", "createRuntime", "startContainer", "poststart", "poststop", "prestop", "")
CLOS_IDS = ("a", "/", "", ".", "..", "a/b", "a\nb", "x" * 4096)
# fmt: on


class Generator:
    """Everything drawn from one random source; mostly right, so that the rare wrong thing is met alone."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def case(self) -> tuple[Directories, list[str]]:
        """Directories, and names to resolve in them."""
        directories: Directories = [self.directory() for _ in range(self.rng.randint(1, 3))]
        if self.odd(0.03):
            directories[self.rng.randrange(len(directories))] = None
        return directories, [self.name() for _ in range(self.rng.randint(0, 3))]

    def odd(self, chance: float) -> bool:
        return self.rng.random() < chance

    def of(self, choices: Any, good: int) -> Any:
        """Mostly one of the first `good` choices."""
        return self.rng.choice(choices if self.odd(0.04) else choices[:good])

    def name(self) -> str:
        return f"{self.of(VENDORS, 4)}/{self.of(CLASSES, 2)}={self.of(DEVICES, 7)}"

    def directory(self) -> dict[str, bytes]:
        return {self.of(FILES, 4): self.file() for _ in range(self.rng.randint(0, 3))}

    def file(self) -> bytes:
        document: Any = self.spec()
        if self.odd(0.05):
            document = self.rng.choice([None, [], "text", 5, [document], {"spec": document}, {}])
        text = json.dumps(document, ensure_ascii=self.odd(0.5)) if self.odd(0.4) else self.yaml(document)
        if self.odd(0.1):
            text = self.edited(text)
        return text.encode("utf-8", "surrogateescape")

    def yaml(self, document: Any) -> str:
        style = self.rng.choice([None, None, True, False])
        return yaml.safe_dump(document, default_flow_style=style, sort_keys=self.odd(0.5), allow_unicode=self.odd(0.5))

    def edited(self, text: str) -> str:
        """What a hand does to a file."""
        at = self.rng.randrange(len(text) + 1)
        match self.rng.randrange(10):
            case 0:
                return text[:at]
            case 1:
                return text[:at] + self.rng.choice("\t\n {}[]:,#&*!|>'\"%@`\\-?\x00é") + text[at:]
            case 2:
                return text + "\n---\n" + text
            case 3:
                return "# note\n" + text + "\n# end\n"
            case 4:
                return text.replace("name:", "name: &anchor", 1).replace("path:", "path: *anchor #", 1)
            case 5:
                return text.replace("kind", "Kind", 1)
            case 6:
                return text + "\nkind: nvidia.com/gpu\n"
            case 7:
                return text.replace("\n", "\r\n")
            case 8:
                return text.replace("- name:", "- &dev\n  name:", 1) + "\n"
            case _:
                return self.swapped(text)

    def swapped(self, text: str) -> str:
        """One value exchanged for one of another kind."""
        lines = text.split("\n")
        index = self.rng.randrange(len(lines))
        if ": " in lines[index]:
            lines[index] = lines[index].split(": ")[0] + ": " + self.rng.choice(SCALARS)
        return "\n".join(lines)

    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "cdiVersion": self.of(VERSIONS, 9),
            "kind": f"{self.of(VENDORS, 4)}/{self.of(CLASSES, 3)}",
            "devices": [self.device() for _ in range(self.rng.choice((1, 1, 2, 3, 3, 0 if self.odd(0.2) else 1)))],
        }
        if self.odd(0.5):
            spec["containerEdits"] = self.edits(0.3)
        if self.odd(0.1):
            spec["annotations"] = self.annotations()
        return self.spoiled(spec)

    def device(self) -> dict[str, Any]:
        device: dict[str, Any] = {"name": self.of(DEVICES, 7), "containerEdits": self.edits(0.0)}
        if self.odd(0.05):
            device["annotations"] = self.annotations()
        return self.spoiled(device)

    def annotations(self) -> dict[str, Any]:
        keys = ("a", "vendor.com/a", "a/b/c", "-", "x" * 80, "é")
        return {
            self.rng.choice(keys): self.rng.choice(("v", "", 5, None, True, [])) for _ in range(self.rng.randint(0, 2))
        }

    def edits(self, empty: float) -> dict[str, Any]:
        if self.odd(empty) or self.odd(0.02):
            return {}
        parts = {
            "env": self.env,
            "deviceNodes": self.nodes,
            "mounts": self.mounts,
            "hooks": self.hooks,
            "intelRdt": self.rdt,
            "netDevices": self.net_devices,
            "additionalGids": self.gids,
        }
        weights = (8, 10, 6, 2, 1, 1, 1)
        chosen = self.rng.choices(list(parts), weights, k=self.rng.randint(1, 3))
        return self.spoiled({name: parts[name]() for name in chosen})

    def env(self) -> list[Any]:
        values = ("A=1", "B=", "C=x=y", "D", "=E", "", 5, None, True)
        return [self.of(values, 3) for _ in range(self.rng.randint(0, 3))]

    def nodes(self) -> list[Any]:
        return [None if self.odd(0.02) else self.node() for _ in range(self.rng.randint(0, 2))]

    def node(self) -> dict[str, Any]:
        node: dict[str, Any] = {"path": self.of(("/dev/nvidia0", "/dev/nvidiactl", "", None), 2)}
        options = {
            "hostPath": ("/dev/x", "/run/dev/y", ""),
            "type": ("c", "b", "", "u", "p", "x", "cc", None),
            "major": (195, 0, -1, "195", 1.5, None, 2**63, "x"),
            "minor": (0, 255, -1, None),
            "fileMode": (438, 0o644, -1, 2**32, "0644", None),
            "permissions": ("rwm", "r", "", "rr", "none", "x", "nonesuch"),
            "uid": (0, 1000, -1, None, 2**32),
            "gid": (0, 44, "44"),
        }
        for key in self.rng.sample(list(options), self.rng.randint(0, 3)):
            node[key] = self.of(options[key], 2)
        return self.spoiled(node)

    def mounts(self) -> list[Any]:
        return [None if self.odd(0.02) else self.mount() for _ in range(self.rng.randint(0, 2))]

    def mount(self) -> dict[str, Any]:
        mount: dict[str, Any] = {
            "hostPath": self.of(("/usr/lib/x", ""), 1),
            "containerPath": self.of(("/usr/lib/x", ""), 1),
        }
        if self.odd(0.5):
            mount["options"] = ["ro", "rbind"] if self.odd(0.9) else self.rng.choice(([], "ro", [None], None, [1]))
        if self.odd(0.1):
            mount["type"] = self.of(("bind", "", None), 1)
        return self.spoiled(mount)

    def hooks(self) -> list[Any]:
        hook = {"hookName": self.of(HOOKS, 6), "path": self.of(("/usr/bin/hook", ""), 1)}
        if self.odd(0.4):
            hook |= {"args": ["hook", "x"], "env": self.env(), "timeout": self.of((5, None, -1, "5", 2.5), 1)}
        return [None if self.odd(0.05) else self.spoiled(hook)]

    def rdt(self) -> Any:
        rdt = {
            "closID": self.of(CLOS_IDS, 3),
            "l3CacheSchema": "L3:0=f",
            "schemata": self.rng.choice((None, [], ["L3:0=f"])),
            "enableMonitoring": self.rng.choice((True, False, "yes", None, 1)),
        }
        keys = self.rng.sample(list(rdt), self.rng.randint(0, 3))
        return None if self.odd(0.1) else {key: rdt[key] for key in keys}

    def net_devices(self) -> list[Any]:
        def one() -> Any:
            host, name = self.of(("eth0", "eth1", ""), 2), self.of(("net0", "net1", ""), 2)
            return None if self.odd(0.05) else {"hostInterfaceName": host, "name": name}

        return [one() for _ in range(self.rng.randint(0, 2))]

    def gids(self) -> list[Any]:
        return [self.of((44, 0, 1000, -1, "44", None, 2**32), 3) for _ in range(self.rng.randint(0, 2))]

    def spoiled(self, table: dict[str, Any]) -> dict[str, Any]:
        """Rarely, a key too many, too few, or of another type."""
        if not self.odd(0.02) or not table:
            return table
        key = self.rng.choice(list(table))
        match self.rng.randrange(4):
            case 0:
                return table | {"unknown": 1}
            case 1:
                return {k: v for k, v in table.items() if k != key}
            case 2:
                return table | {key: self.rng.choice((None, 1, "x", [], {}, [1], {"a": 1}))}
            case _:
                return {k.upper() if k == key else k: v for k, v in table.items()}
