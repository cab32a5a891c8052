"""What becomes of a folder on its way: files that lack, stand elsewhere, or hold something else."""

import random
from collections.abc import Callable
from typing import Final

from tests.fuzz.spoil_bytes import OF_BYTES
from tests.fuzz.spoil_objects import spoilt_document

Tree = dict[str, bytes]

_NAMES: Final = (
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "C:\\Users\\x\\pods.json",
    "..\\..\\x",
    "cluster/pods.json/x",
    "x" * 200 + "/cluster/pods.json",
    "\udcff\udcfe.json",
    "cluster/\x1b[2Jpods.json",
    "cluster/pods.v1.json",
    "cluster/pods.yaml",
    "cluster/events.json",
    "nodes/n/etc/containerd/config.toml",
    "nodes/\n/dmesg.txt",
    "nodes/n/nvidia-bug-report.log.gz",
    "nodes/../dmesg.txt",
    "logs/a/b/c.log",
    "manifest.json",
    "./cluster/nodes.json",
    "a//b",
    "",
)


def _of_one_file(tree: Tree, dice: random.Random) -> Tree:
    path = dice.choice(sorted(tree))
    return tree | {path: dice.choice(OF_BYTES)(tree[path], dice)}


def _of_one_document(tree: Tree, dice: random.Random) -> Tree:
    telling = [path for path in sorted(tree) if path.endswith((".json", ".yaml", ".yml")) or len(tree) == 1]
    path = dice.choice(telling or sorted(tree))
    return tree | {path: spoilt_document(path, tree[path], dice)}


def _without_some(tree: Tree, dice: random.Random) -> Tree:
    left = {path: data for path, data in tree.items() if dice.random() < 0.7}
    return left or tree


def _exchanged(tree: Tree, dice: random.Random) -> Tree:
    one, other = dice.choice(sorted(tree)), dice.choice(sorted(tree))
    return tree | {one: tree[other], other: tree[one]}


def _renamed(tree: Tree, dice: random.Random) -> Tree:
    path, name = dice.choice(sorted(tree)), dice.choice(_NAMES)
    rest = {p: d for p, d in tree.items() if p != path or dice.random() < 0.3}
    return rest | {name: tree[path]} if name else tree


def _below_more_folders(tree: Tree, dice: random.Random) -> Tree:
    above = "/".join("abcdefgh"[: dice.randint(1, 6)])
    return {f"{above}/{path}": data for path, data in tree.items()}


Step = Callable[[Tree, random.Random], Tree]
OF_FILES: Final[tuple[Step, ...]] = (_of_one_file, _of_one_document, _of_one_document)
OF_TREES: Final[tuple[Step, ...]] = (
    *(OF_FILES * 3),
    _without_some,
    _exchanged,
    _renamed,
    _below_more_folders,
)
