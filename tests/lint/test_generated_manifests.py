"""Lint over generated manifests, whole and broken: it never raises, and a second --fix writes nothing."""

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.lint import all_rules
from lockgate.lint.cluster_facts import ClusterFacts, GpuNode
from lockgate.lint.engine import fix_all, lint
from lockgate.lint.subject import Subject
from lockgate.model.objects import Taint

RULES = tuple(rule for rule in all_rules() if rule.id.startswith("manifest/"))
GPU = "nvidia.com/gpu"
CLUSTER = ClusterFacts(
    nodes=(GpuNode(name="a", capacity={GPU: 2}, taints=(Taint(key="t", effect="NoSchedule"),), cuda=(12, 4)),),
    runtime_classes=frozenset(("nvidia",)),
)
_NAMES = st.sampled_from([GPU, "nvidia.com/gpus", "nvidia/gpu", "nvidia.com/mig-1g5gb", f"{GPU}.shared", "cpu", "gpu"])
_AMOUNTS = st.sampled_from([0, 1, 2, 0.5, "1", "500m", "one", "", None, "{{ .x }}", [], {}, -1, "1e3"])
_ENTRY = st.fixed_dictionaries(
    {"name": st.sampled_from(["NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "X"])},
    optional={"value": st.sampled_from(["all", "0", "3", "void", ""]), "valueFrom": st.just({"x": {}})},
)
_LIMITS = st.dictionaries(_NAMES, _AMOUNTS, max_size=3)
_RESOURCES = st.fixed_dictionaries(
    {}, optional={"limits": _LIMITS, "requests": _LIMITS, "claims": st.just([{"name": "g"}])}
)
_CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"])},
    optional={
        "image": st.sampled_from(["nvidia/cuda:latest", "nvidia/cuda:13.0.1-base", "x:1", "", "a@b:c"]),
        "resources": _RESOURCES | st.just("none") | st.just([]),
        "env": st.lists(_ENTRY, max_size=3) | st.none(),
        "limits": _LIMITS,
        "command": st.just(["nvidia-smi"]),
        "restartPolicy": st.just("Always"),
        "securityContext": st.just({"privileged": True}),
    },
)
_SPEC = st.fixed_dictionaries(
    {"containers": st.lists(_CONTAINER, min_size=1, max_size=2)},
    optional={
        "initContainers": st.lists(_CONTAINER, max_size=2),
        "nodeName": st.sampled_from(["n", ""]),
        "runtimeClassName": st.sampled_from(["nvidia", "x"]),
        "nodeSelector": st.just({f"{GPU}.product": "X"}) | st.none(),
        "tolerations": st.just([{"key": "t"}]) | st.just("x"),
        "volumes": st.just([{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]),
        "resourceClaims": st.just([{"name": "g"}]) | st.just({}),
        "resources": _RESOURCES,
    },
)
_TEMPLATE = st.fixed_dictionaries({"spec": _SPEC})
_OBJECT = st.one_of(
    st.fixed_dictionaries({"apiVersion": st.just("v1"), "kind": st.just("Pod"), "spec": _SPEC}),
    st.fixed_dictionaries(
        {
            "apiVersion": st.just("batch/v1"),
            "kind": st.sampled_from(["Job", "DaemonSet", "PyTorchJob"]),
            "metadata": st.fixed_dictionaries({"name": st.sampled_from(["x", "y"])}),
            "spec": st.fixed_dictionaries({"template": _TEMPLATE}),
        }
    ),
    st.fixed_dictionaries(
        {
            "apiVersion": st.just("v1"),
            "kind": st.just("ResourceQuota"),
            "spec": st.fixed_dictionaries({"hard": st.dictionaries(_NAMES, _AMOUNTS, max_size=2) | st.none()}),
        }
    ),
    st.just({"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "version: v1\nflags: {mps: 1}\n", "y": None}}),
    st.just({"apiVersion": "v1", "kind": "RuntimeClass", "handler": "nvidia-container-runtime"}),
)


def _subject(objects: list[Any], flow: bool | None, indented: bool) -> Subject:
    """One file; `indented`: lists stand two columns behind their key, as many people write them."""
    text = yaml.safe_dump_all(objects, default_flow_style=flow, sort_keys=False)
    if indented and flow is False:
        text = yaml.dump_all(objects, Dumper=_Indenting, default_flow_style=False, sort_keys=False)
    return Subject({"app.yaml": text}, holds_manifests=True, cluster=CLUSTER)


class _Indenting(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@settings(max_examples=150, deadline=None)
@given(st.lists(_OBJECT, min_size=1, max_size=2), st.sampled_from([None, False, True]), st.booleans())
def test_lint_judges_every_manifest_and_its_fixes_are_stable(
    objects: list[Any], flow: bool | None, indented: bool
) -> None:
    subject = _subject(objects, flow, indented)
    before = lint(subject, RULES)
    fixed = fix_all(subject, RULES, frozenset(subject.files))
    after = subject.edited(fixed)
    left = lint(after, RULES)
    assert before.not_checked == left.not_checked == ()
    assert bool(fixed) == any(f.fix for f in before.findings)
    assert {(f.id, f.key) for f in left.findings} <= {(f.id, f.key) for f in before.findings}
    assert fix_all(after, RULES, frozenset(after.files)) == {}
    assert not any(f.fix for f in left.findings)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="apiVersion: kndPodsc-[]{}\n&*!|>'\"#,\t\\é", max_size=80))
def test_any_text_is_judged_or_said_to_be_no_yaml(text: str) -> None:
    report = lint(Subject({"app.yaml": text}, holds_manifests=True), RULES)
    assert all(open_.id == "manifest" for open_ in report.not_checked)
