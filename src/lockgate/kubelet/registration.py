"""Tells the kubelet that a device plugin serves a resource."""

from pathlib import Path
from typing import Final

from lockgate.kubelet.channel import call
from lockgate.kubelet.generated import device_plugin_pb2 as pb
from lockgate.kubelet.messages import VERSION

METHOD: Final = "/v1beta1.Registration/Register"


async def register(kubelet: Path, endpoint: str, resource: str, timeout: float = 10.0) -> None:
    """Register the socket `endpoint` (a name in the kubelet's folder) for the resource.

    The kubelet dials the socket before it answers, so the server must already listen. `timeout` in seconds.
    Raises UnreachableError with the kubelet's own words.
    """
    options = pb.DevicePluginOptions(get_preferred_allocation_available=True)
    request = pb.RegisterRequest(version=VERSION, endpoint=endpoint, resource_name=resource, options=options)
    await call(kubelet, METHOD, request, pb.Empty.FromString, timeout)
