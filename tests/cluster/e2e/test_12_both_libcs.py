"""A container of glibc and one of musl, with nothing in them but a loader, find the driver's libraries by name."""

import pytest

from deploy.cache import cache_folder
from tests.cluster import Cluster, programs
from tests.cluster.e2e.conftest import get, wait_phase
from tests.cluster.libc_images import LIBCS, PROGRAM, build_libc_image, image_name
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("node", ["gpu-a", "gpu-b"])
@pytest.mark.parametrize("libc", LIBCS)
def test_libcuda_and_libnvidia_ml_are_found_and_answer(cluster: Cluster, libc: str, node: str) -> None:
    cluster.import_image(build_libc_image(cache_folder(), programs.ready(), libc), [node])
    cluster.apply(pod("finds", gpus=1, on=node, image=image_name(libc), command=(PROGRAM,)))
    wait_phase(cluster, "finds", "Succeeded", "Failed")
    *uuids, cuda = cluster.kubectl("logs", "finds").splitlines()
    devices = get(cluster, "gpunodestates.lockgate.dev", node)["status"]["devices"]["devices"]
    assert len(uuids) == 1, uuids
    assert uuids[0] in {device["uuid"] for device in devices}
    assert cuda == "cuInit 0"


@pytest.mark.parametrize("libc", LIBCS)
def test_without_a_gpu_there_is_no_library_to_find(cluster: Cluster, libc: str) -> None:
    cluster.import_image(build_libc_image(cache_folder(), programs.ready(), libc), ["gpu-a"])
    cluster.apply(pod("finds-none", on="gpu-a", image=image_name(libc), command=(PROGRAM,)))
    wait_phase(cluster, "finds-none", "Succeeded", "Failed")
    assert "libnvidia-ml.so.1: " in cluster.kubectl("logs", "finds-none")
    assert "GPU-" not in cluster.kubectl("logs", "finds-none")
