"""Where a CDI specification names one of its devices."""

import re

from lockgate.lint.subject import CdiFiles


def device_line(cdi: CdiFiles, path: str, device: str) -> int:
    """The line of a device's name; 1 where it cannot be told."""
    name = re.compile(rf"[\"']?name[\"']?\s*:\s*[\"']?{re.escape(device)}(?![A-Za-z0-9_.:-])")
    lines = cdi.subject.text(path).splitlines()
    return next((number for number, line in enumerate(lines, 1) if name.search(line)), 1)


def text_line(cdi: CdiFiles, path: str, text: str) -> int:
    """The first line that has a word (not a part of a longer path); 1 where none has."""
    word = re.compile(rf"(?<![A-Za-z0-9_./-]){re.escape(text)}(?![A-Za-z0-9_./-])")
    lines = cdi.subject.text(path).splitlines()
    return next((number for number, line in enumerate(lines, 1) if word.search(line)), 1)
