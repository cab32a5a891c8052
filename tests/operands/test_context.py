"""Images and pull policies, as NVIDIA's operator resolves them."""

import pytest

from lockgate.model.policy.parts import Image
from lockgate.operands.context import ImageError, image_of, pull_policy


@pytest.mark.parametrize(
    ("section", "image"),
    [
        (
            Image(repository="nvcr.io/nvidia", image="k8s-device-plugin", version="v1"),
            "nvcr.io/nvidia/k8s-device-plugin:v1",
        ),
        (Image(repository="r", image="i", version="sha256:abc"), "r/i@sha256:abc"),
        (Image(image="registry/path/image:tag"), "registry/path/image:tag"),
        (Image(), "default"),
    ],
)
def test_an_image_is_three_parts_or_a_full_path_or_the_default(section: Image, image: str) -> None:
    assert image_of(section, "default", "spec.gfd") == image


@pytest.mark.parametrize(
    ("section", "says"),
    [
        (Image(version="v1"), "spec.gfd: repository and image not set"),
        (Image(repository="r", image="i"), "spec.gfd: version not set"),
        (Image(image="i", version="v"), "spec.gfd: repository not set"),
    ],
)
def test_half_an_image_is_refused_and_the_missing_part_named(section: Image, says: str) -> None:
    with pytest.raises(ImageError, match=says):
        image_of(section, "default", "spec.gfd")


@pytest.mark.parametrize(
    ("asked", "policy"), [("Always", "Always"), ("Never", "Never"), ("", "IfNotPresent"), ("sometimes", "IfNotPresent")]
)
def test_an_unknown_pull_policy_is_if_not_present(asked: str, policy: str) -> None:
    assert pull_policy(Image(image_pull_policy=asked)) == policy
