"""A HorizontalPodAutoscaler scales by GPU as if it were CPU.

`type: Resource` is what the metrics server measures: CPU and memory. A GPU is no measured amount there; its load comes
from `dcgm-exporter` as a Pods, Object or External metric (`DCGM_FI_DEV_GPU_UTIL`, through an adapter or KEDA).

Why it matters: the autoscaler says `FailedGetResourceMetric` for ever and never scales.
Fix: a metric of type Pods or External that an adapter serves.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import is_gpu_resource

_FIELDS = ("resource", "containerResource")


@lint_rule(severity=Severity.ERROR)
def hpa_gpu_metric(manifests: Manifests) -> Iterator[Problem]:
    for document in manifests.of_kind("HorizontalPodAutoscaler"):
        for metric in document.item.items("spec", "metrics"):
            name = _name(metric)
            if name is not None and (is_gpu_resource(name.text()) or name.text() == "gpu"):
                yield Problem(
                    key=f"{document.name} {name.text()}",
                    summary=f"HorizontalPodAutoscaler {document.name}: {name.text()} is no resource that is measured; "
                    "only cpu and memory are",
                    marks=(document.mark(name, "cpu or memory", name.text()),),
                    help="a Pods or External metric, for example DCGM_FI_DEV_GPU_UTIL through an adapter or KEDA",
                )


def _name(metric: Item) -> Item | None:
    return next((found for field in _FIELDS if (found := metric.get(field, "name")) is not None), None)
