"""What rendering depends on besides the policy: the operator's own place and image, and what the nodes run."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

from lockgate.model.policy import PolicySpec
from lockgate.model.policy.parts import Image
from lockgate.operands.manifests import Manifest

HASH: Final = "nvidia.com/last-applied-hash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One policy on one cluster. `owner` is the policy's ownerReference; `runtime` that of the GPU nodes."""

    spec: PolicySpec
    namespace: str
    image: str
    owner: Manifest | None = None
    runtime: str = "containerd"


class ImageError(ValueError):
    """Repository, image and version of a section do not make an image."""


def image_of(section: Image, default: str, path: str) -> str:
    """The image of a section: all three parts, or `image` alone as a full path, or the operator's default.

    Source: gpu-operator api/nvidia/v1/clusterpolicy_types.go, imagePath. Raises ImageError naming the missing part.
    """
    parts = {"repository": section.repository, "image": section.image, "version": section.version}
    missing = [name for name, value in parts.items() if not value]
    if not missing:
        separator = "@" if section.version.startswith("sha256:") else ":"
        return f"{section.repository}/{section.image}{separator}{section.version}"
    if missing == ["repository", "version"]:
        return section.image
    if len(missing) == len(parts):
        return default
    raise ImageError(f"{path}: {' and '.join(missing)} not set; give repository, image and version, or none of them")


def pull_policy(section: Image) -> str:
    """What the kubelet is told; anything unknown is IfNotPresent, as in NVIDIA's operator."""
    return section.image_pull_policy if section.image_pull_policy in ("Always", "Never") else "IfNotPresent"


def owned(manifest: Manifest, context: Context) -> Manifest:
    """The manifest in its namespace, owned by the policy and carrying a hash of what it is."""
    metadata = manifest["metadata"]
    if manifest["kind"] != "RuntimeClass":
        metadata["namespace"] = context.namespace
    if context.owner:
        metadata["ownerReferences"] = [context.owner]
    metadata["annotations"] = {**metadata.get("annotations", {}), HASH: digest(manifest)}
    return manifest


def digest(value: Any) -> str:
    """A short name for a manifest's content."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
