"""What a program says that asked for a GPU and finds no driver in its container, and which part of it it misses."""

import re
from typing import Final

from lockgate.diagnosis.views.words import Said, Words

# The part (a capability, in NVIDIA's runtime's words) -> what programs say without it. Of the CUDA runtime's texts the
# strings of libcudart 12; the rest are the loader's, the shell's, containerd's, PyTorch's, TensorFlow's.
ABSENT: Final[dict[str, re.Pattern[str]]] = {
    "utility": re.compile(
        r"nvidia-smi[\"']?:? (?:command |executable file )?not found"
        r"|(?<!load library failed: )libnvidia-ml\.so\S*: cannot open shared object"
        r"|couldn't find libnvidia-ml|NVML Shared Library Not Found"
    ),
    "compute": re.compile(
        r"libcuda\.so\S*: cannot open shared object|[Cc]ould not (?:load dynamic library|find) '?libcuda"
        r"|Found no NVIDIA driver on your system|no CUDA-capable device is detected|No CUDA GPUs are available"
        r"|CUDA driver version is insufficient for CUDA runtime version|CUDA driver is a stub library"
    ),
    "graphics": re.compile(r"lib(?:GLX|EGL)_nvidia\.so\S*: cannot open|ERROR_INCOMPATIBLE_DRIVER|vk_icd\S* not found"),
    "video": re.compile(r"(?:Cannot load |lib)(?:nvidia-encode|nvcuvid)\S*(?: cannot open|: cannot open|$)"),
}


def absent_driver(words: Words) -> tuple[str, Said] | None:
    """The part that a container misses, and who says so; None when nobody does."""
    return next(((part, said) for part, text in ABSENT.items() if (said := words.find(text))), None)
