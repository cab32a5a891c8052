"""The ClusterPolicy as types: what `deploy/crds/nvidia.com_clusterpolicies.yaml` is generated from.

An observer that must read any version uses `model.objects.ClusterPolicy`, whose spec is untyped; the operator converts
that spec with `parse_spec`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from lockgate.model.policy.spec import PolicySpec

__all__ = ["PolicySpec", "parse_spec"]


def parse_spec(spec: Mapping[str, Any]) -> PolicySpec:
    """Convert an untyped spec; unknown fields are dropped, as the API server does. Raises msgspec.ValidationError."""
    return msgspec.convert(spec, PolicySpec)
