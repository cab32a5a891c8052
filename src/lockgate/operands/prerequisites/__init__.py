"""RuntimeClasses: what a pod names to be started by the handler of the same name.

The handlers are aliases of the node's own runc, so a pod that names one starts like any other; the operands name
`nvidia` and so prove on each node that containerd has loaded it.
"""

from typing import Final

from lockgate.model import names
from lockgate.operands.context import Context, owned
from lockgate.operands.manifests import Manifest, one
from lockgate.operands.operand import Operand, objects_of

LABELS: Final = {"app.kubernetes.io/component": "gpu-operator"}


def desired(context: Context) -> tuple[Manifest, ...]:
    """The policy's own class, and with CDI the two others; none when an NRI plugin injects devices."""
    spec = context.spec
    if spec.cdi.nri_plugin_enabled:
        return ()
    others = names.HANDLERS[1:] if spec.cdi.enabled else ()
    return tuple(_runtime_class(name, context) for name in dict.fromkeys((spec.operator.runtime_class, *others)))


def _runtime_class(name: str, context: Context) -> Manifest:
    manifest = one(__name__, "RuntimeClass")
    manifest["metadata"]["name"] = name
    manifest["handler"] = name
    return owned(manifest, context)


OPERAND: Final = Operand(
    order=10,
    state="pre-requisites",
    condition="RuntimeClassesReady",
    switch="",
    enabled=lambda _: True,
    desired=desired,
    objects=objects_of(
        *(
            {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}}
            for name in names.HANDLERS
        )
    ),
)
