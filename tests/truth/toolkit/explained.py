"""The rows of docs/decisions/0043: the differences that are meant, read from the page itself."""

from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/decisions/0043-compared-with-nvidia-ctk.md"


def rows(heading: str) -> set[str]:
    """The first cells of the table below a heading."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return {line.split("|")[1].strip() for line in lines[1:]} - {"---"}
