"""What makes up an NVIDIA driver, as tables: the directories to look in, and the names to look for.

Source: `nvidia-ctk cdi generate` of NVIDIA's container toolkit 1.20.2 (pkg/nvcdi, internal/discover), with which
tests/truth/toolkit compares what is found. The directories of COS and Arch are ours.
"""

from typing import Final

# In the order in which the toolkit looks; the first with a driver decides version and machine.
LIBRARY_DIRECTORIES: Final = (
    "/usr/lib/x86_64-linux-gnu",  # Debian, Ubuntu
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",  # Red Hat, SUSE, Amazon
    "/lib64",
    "/usr/lib",  # Arch
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",  # Debian's own packages
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/nvidia/lib64",  # Google's COS
    "/opt/nvidia/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
)
# Below a library directory, libraries of the driver that loaders of their own look for there.
LIBRARY_FOLDERS: Final = ("", "vdpau/")
# Libraries that carry a version of their own; they come with the driver all the same.
OTHER_VERSIONS: Final = ("libnvidia-nvvm70.so.*",)
GRAPHICS_LIBRARIES: Final = (
    "libnvidia-egl-gbm.so.*.*",
    "libnvidia-egl-wayland.so.*.*",
    "libnvidia-egl-wayland2.so.*.*",
    "libnvidia-egl-xcb.so.*.*",
    "libnvidia-egl-xlib.so.*.*",
)
# What monitors load to look at NVSwitches.
MANAGEMENT_LIBRARIES: Final = ("libnvsdm.so.1", "libibumad.so.3", "libibmad.so.5")
# Names besides the soname by which a library is loaded: NVIDIA's toolkit makes links for them.
ALSO_NAMED: Final = {
    "libcuda.so": "libcuda.so",
    "libnvidia-opticalflow.so": "libnvidia-opticalflow.so",
    "libGLX_nvidia.so": "libGLX_indirect.so.0",
    "libnvidia-allocator.so": "gbm/nvidia-drm_gbm.so",
    "libnvidia-vulkan-producer.so": "libnvidia-vulkan-producer.so",
}

BINARY_DIRECTORIES: Final = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/nvidia/bin", "/opt/bin")
BINARIES: Final = (
    "nvidia-smi",
    "nvidia-debugdump",
    "nvidia-persistenced",
    "nvidia-cuda-mps-control",
    "nvidia-cuda-mps-server",
    "nvidia-imex",
    "nvidia-imex-ctl",
)
GRAPHICS_BINARIES: Final = ("nvidia-xconfig",)

# {kernel} is filled in with the running kernel's release; a file keeps its path.
FIRMWARE_DIRECTORIES: Final = (
    "/lib/firmware/updates/{kernel}",
    "/lib/firmware/updates",
    "/lib/firmware/{kernel}",
    "/lib/firmware",
)
FIRMWARE: Final = ("gsp*.bin", "ucodes*.bin")  # in nvidia/<version> of those directories

CONFIG_DIRECTORIES: Final = ("/etc", "/usr/local/share", "/usr/share")
# file below one of these directories -> the directory of the container below which its readers look
CONFIGS: Final = {
    "glvnd/egl_vendor.d/10_nvidia.json": "/usr/share",
    "egl/egl_external_platform.d/15_nvidia_gbm.json": "/usr/share",
    "egl/egl_external_platform.d/10_nvidia_wayland.json": "/usr/share",
    "egl/egl_external_platform.d/09_nvidia_wayland2.json": "/usr/share",
    "egl/egl_external_platform.d/20_nvidia_xcb.json": "/usr/share",
    "egl/egl_external_platform.d/20_nvidia_xlib.json": "/usr/share",
    "nvidia/nvoptix.bin": "/usr/share",
    "X11/xorg.conf.d/10-nvidia.conf": "/usr/share",
    "X11/xorg.conf.d/nvidia-drm-outputclass.conf": "/usr/share",
    "OpenCL/vendors/nvidia.icd": "/etc",
}
# The same for Vulkan, which GKE keeps in the driver root itself; {cpu} is filled in with the processor's name.
VULKAN_CONFIGS: Final = (
    "vulkan/icd.d/nvidia_icd.json",
    "vulkan/icd.d/nvidia_layers.json",
    "vulkan/implicit_layer.d/nvidia_layers.json",
    "vulkan/icd.d/nvidia_icd.{cpu}.json",
)

# X modules keep their paths, so that a ModulePath in a configuration stays right. {library}: a library directory.
XORG_DIRECTORIES: Final = (
    "{library}/nvidia/xorg",
    *(
        f"{root}/{modules}/{kind}"
        for root in ("{library}/xorg", "/usr/lib/xorg", "/usr/lib64/xorg", "/usr/X11R6/lib", "/usr/X11R6/lib64")
        for modules in ("modules", "modules/updates")
        for kind in ("drivers", "extensions")
    ),
)
XORG_MODULES: Final = ("nvidia_drv.so", "libglxserver_nvidia.so.{version}")

SOCKET_DIRECTORIES: Final = ("/run", "/var/run")
SOCKETS: Final = ("nvidia-persistenced/socket", "nvidia-fabricmanager/socket")
MPS_PIPES: Final = "/tmp/nvidia-mps"
