"""Where short-lived pods are at home: an installed operand lends its namespace, its image, and what pulls it."""

import secrets

from lockgate.cli.short_pods import Image, Place
from lockgate.collect.live import Access, connect
from lockgate.collect.once import run_once
from lockgate.kube.resources import DAEMONSETS
from lockgate.model.objects import DaemonSet


def image_of(access: Access, operand: DaemonSet) -> Image:
    """The image of an operand's main container, and the secrets that pull it; raises `kube.errors`."""
    return run_once(_image_of(access, operand))


async def _image_of(access: Access, operand: DaemonSet) -> Image:
    async with connect(access) as api:
        manifest = await api.get_manifest(DAEMONSETS, operand.name, operand.namespace)
    spec = manifest["spec"]["template"]["spec"]
    return Image(spec["containers"][0]["image"], tuple(spec.get("imagePullSecrets", ())))


def mark() -> str:
    """A word that tells the pods of one run from those of another."""
    return secrets.token_hex(3)


def place(namespace: str, what: str, run: str, node: str) -> Place:
    """A pod's place under a name that is its own."""
    return Place(namespace, f"lockgate-{what}-{run}-{node}"[:253].rstrip("-."), node)
