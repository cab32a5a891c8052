"""An image's reference in its parts: `registry.example:5000/team/train:1.2@sha256:...`."""

import re
from dataclasses import dataclass
from typing import Final

_FOR_GPUS: Final = re.compile(
    r"(?:^|/)(?:cuda|pytorch|tensorflow|tritonserver|vllm-openai|text-generation-inference|nemo|rapidsai?|jax|cuda-samples"
    r"|k8s-samples|cuda-sample|cudagl)$|/nvidia/",
)


@dataclass(frozen=True, slots=True)
class Image:
    """`name` has its registry; `tag` is "" where none is written."""

    name: str
    tag: str
    digest: str

    @property
    def floats(self) -> bool:
        """Whether what it names may be another image tomorrow, by its own words."""
        return not self.digest and self.tag in ("", "latest")

    @property
    def is_for_gpus(self) -> bool:
        """Whether its name is one of those that bring CUDA."""
        return bool(_FOR_GPUS.search(self.name))


def parse_image(text: str) -> Image | None:
    """The parts; None for what is filled in later, or empty."""
    if not text or "{{" in text or "$" in text:
        return None
    rest, _, digest = text.partition("@")
    head, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:  # a port
        head, tag = rest, ""
    return Image(head, tag, digest)
