"""Everything that is recorded or written down in this repository and that a verb reads, each as a tree of files."""

import functools
import json
import lzma
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import yaml

import lockgate.lint
from tests.collect.test_bug_report import REPORT
from tests.collect.test_offline import DESCRIBED
from tests.collect.test_pasted import ALL, EVENTS, SHIFTED, WIDE, described
from tests.corpus.folder import files_of
from tests.corpus.written import load, of_rules
from tests.fuzz.spoil_trees import Tree
from tests.rules.world import beside, objects

TESTS: Final = Path(__file__).parent.parent
_LINT: Final = Path(lockgate.lint.__file__).parent
_ASKED: Final = 150  # of the rules' cases


class Kind(Enum):
    """What a sample is, and with it what may be asked about it."""

    FACTS = "facts"  # a bundle, an input folder, a must-gather folder
    OBJECTS = "objects"  # one file of kubectl get
    TEXT = "text"  # what a terminal showed
    NODE = "node"  # containerd's files and CDI specifications
    MANIFESTS = "manifests"
    WAIVERS = "waivers"
    KUBECONFIG = "kubeconfig"


@dataclass(frozen=True)
class Sample:
    """A tree of files by path; `asks` are targets of `why` that are in it."""

    kind: Kind
    name: str
    files: Tree
    asks: tuple[str, ...] = ("",)


@functools.cache
def samples() -> tuple[Sample, ...]:
    """All of them, in the same order in every process."""
    return (*_bundles(), *_must_gather(), *_corpus(), *_single(), *_texts(), *_containerd(), *_lint_cases(), *_others())


def good() -> Path:
    """A bundle that nobody spoilt, for what needs a second input."""
    return TESTS / "bundles/all-held.tgz"


def unpacked(path: Path) -> Tree:
    """The files of an archive."""
    with tarfile.open(path) as tar:
        return {info.name: file.read() for info in tar if (file := tar.extractfile(info))}


def _bundles() -> Iterator[Sample]:
    for path in sorted((TESTS / "bundles").glob("*.tgz")):
        cases = yaml.load(path.with_suffix(".yaml").read_text(), Loader=yaml.CSafeLoader)["cases"]
        yield Sample(Kind.FACTS, path.stem, unpacked(path), ("", *(case["ask"] for case in cases)))


def _must_gather() -> Iterator[Sample]:
    for path in sorted((TESTS / "collect/must_gather").glob("*.tgz")):
        files = unpacked(path)
        place = next(iter(files)).rpartition("/")[0]
        asks = ("", "node/gpu-a", "operand/device-plugin")
        yield Sample(Kind.FACTS, path.stem, files | {f"{place}/nvidia-bug-report_gpu-a.log.gz": REPORT}, asks)


def _corpus() -> Iterator[Sample]:
    rules = list(of_rules())
    for case in (*load("reports"), *load("pairs"), *load("healthy"), *rules[:: max(1, len(rules) // _ASKED)]):
        files = files_of(objects(case.facts), beside(case.facts))
        yield Sample(Kind.FACTS, case.name, {p: d for p, d in files.items() if b'"items": []' not in d}, case.asks)


def _single() -> Iterator[Sample]:
    """Parts of a bundle as single files: one list, one object, all of it as one List, in JSON and YAML."""
    tree = unpacked(good())
    lists = {path.rpartition("/")[2]: json.loads(data)["items"] for path, data in tree.items() if "/cluster/" in path}
    whole = {"apiVersion": "v1", "kind": "List", "items": [item for items in lists.values() for item in items]}
    asks = ("", "pod/late", "node/node-a")
    for name, items in {"all.json": whole["items"], **lists}.items():
        yield Sample(Kind.OBJECTS, name, {name: _document(items).encode()}, asks)
        if items:
            yield Sample(Kind.OBJECTS, f"one of {name}", {name: json.dumps(items[0], indent=4).encode()}, asks)
    text = yaml.safe_dump(json.loads(_document(lists["pods.json"])))
    yield Sample(Kind.OBJECTS, "pods.yaml", {"pods.yaml": text.encode()}, asks)
    several = yaml.safe_dump_all([*lists["pods.json"][:2], *lists["nodes.json"][:1]])
    yield Sample(Kind.OBJECTS, "several.yaml", {"several.yaml": several.encode()}, asks)


def _document(items: list[Any]) -> str:
    return json.dumps(
        {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4
    )


def _texts() -> Iterator[Sample]:
    node = described("gpu_nodes.descr").encode()
    tables = {"events": EVENTS, "all": ALL, "wide": WIDE, "shifted": SHIFTED}
    for name, data in {"pod": DESCRIBED.encode(), "node": node, **tables}.items():
        asks = ("", "pod/train-0", "pod/late", "pod/broken", "node/gpu-a")
        yield Sample(Kind.TEXT, name, {f"{name}.txt": data}, asks)
    yield Sample(Kind.TEXT, "both", {"both.txt": DESCRIBED.encode() + b"\n\n" + node}, ("", "pod/train-0"))
    yield Sample(Kind.TEXT, "end", {"end.txt": DESCRIBED.encode()[DESCRIBED.index("Events:") :]}, ("pod/train-0",))


def _containerd() -> Iterator[Sample]:
    with lzma.open(TESTS / "truth/containerd_config.jsonl.xz") as file:
        for line in file:
            case = json.loads(line)
            files = {f"etc/containerd/{p}": t.replace("/ROOT/", "").encode() for p, t in case["files"].items()}
            yield Sample(Kind.NODE, case["id"], files)


def _lint_cases() -> Iterator[Sample]:
    for path in sorted(_LINT.rglob("*.yaml")):
        for case in yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["cases"]:
            name = f"{path.stem}: {case['case']}"
            if "manifest" in case:
                yield Sample(Kind.MANIFESTS, name, {"app.yaml": case["manifest"].encode()})
            else:
                yield Sample(Kind.NODE, name, {p.lstrip("/"): t.encode() for p, t in case["files"].items()})


def _others() -> Iterator[Sample]:
    waivers = {
        "waivers": [{"id": "scheduling/all-held", "where": "pod/*", "reason": "known", "until": "2099-12-31"}] * 2
    }
    for _ in range(20):  # as likely as a recorded cluster
        yield Sample(Kind.WAIVERS, "waivers", {"lockgate.yaml": yaml.safe_dump(waivers).encode()})
        yield Sample(Kind.KUBECONFIG, "kubeconfig", {"config": _KUBECONFIG})


_KUBECONFIG: Final = b"""\
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: one, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: aGVsbG8=}}
- {name: two, cluster: {server: "http://127.0.0.1:1", proxy-url: "http://127.0.0.1:1"}}
contexts:
- {name: one, context: {cluster: one, user: one, namespace: ml}}
- {name: two, context: {cluster: two, user: two}}
users:
- {name: one, user: {token: abc, client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=}}
- {name: two, user: {username: a, password: b}}
"""
