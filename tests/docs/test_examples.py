"""Every example in the documentation is true: `$ kubectl gpu ...` in a console block prints what stands below it.

`make generate` does not write these blocks: `python -m tests.docs.test_examples` does, after a look at the difference.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n\$ kubectl gpu (?P<arguments>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
EXAMPLES = [(page, match) for page in PAGES for match in BLOCK.finditer(page.read_text())]


def printed(arguments: str) -> str:
    """What the command prints in a terminal of 100 columns, without colour."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "lockgate.cli.main", *arguments.split()]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(
    ("page", "match"), EXAMPLES, ids=[f"{page.name}:{match['arguments']}" for page, match in EXAMPLES]
)
def test_an_example_prints_what_the_page_says(page: Path, match: re.Match[str]) -> None:
    assert printed(match["arguments"]) == match["output"]


def test_the_readme_shows_an_example() -> None:
    assert any(page.name == "README.md" for page, _ in EXAMPLES)


def test_links_lead_somewhere() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text())]
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def _write() -> None:
    for page in PAGES:
        text = BLOCK.sub(
            lambda m: f"```console\n$ kubectl gpu {m['arguments']}\n{printed(m['arguments'])}```", page.read_text()
        )
        page.write_text(text)


if __name__ == "__main__":
    _write()
