"""The HTML of `why` and `survey`: one file that loads nothing, escapes everything, readable in dark and light."""

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from lockgate.cli.render.html import render_survey, render_why
from lockgate.cli.surveying import survey
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.rules import all_rules
from tests.cli.test_why import BUNDLES, run
from tests.rules.world import snapshot

HOSTILE = '<img src=x onerror="alert(1)"></td><script>alert(2)</script>'
VOID = {"meta", "br", "img", "hr", "link", "input"}
CASES = [
    ("why", "node/gpu-a", "unhealthy"),
    ("why", "pod/late", "all-held"),
    ("survey", "", "unhealthy"),
    ("survey", "", "all-held"),
]


class Page(HTMLParser):
    """A page's tags, attributes and text; tags that are not closed in order are kept in `wrong`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def page(verb: str, target: str, bundle: str) -> str:
    words = [verb, target] if target else [verb]
    return run(*words, "--from", str(BUNDLES / f"{bundle}.tgz"), "-o", "html").stdout


@pytest.mark.parametrize(("verb", "target", "bundle"), CASES)
def test_a_page_is_whole_and_loads_nothing(verb: str, target: str, bundle: str) -> None:
    text = page(verb, target, bundle)
    seen = Page(text)
    assert seen.wrong == []
    assert set(seen.tags) & {"script", "link", "img", "iframe", "object", "base", "form", "a"} == set()
    assert {name for name, _ in seen.attributes} & {"src", "href", "srcset", "action", "onclick", "onload"} == set()
    assert re.findall(r"https?:|url\(|@import", text) == []
    assert "default-src 'none'" in text


def test_a_page_says_what_the_text_says() -> None:
    text = Page(page("why", "pod/late", "all-held")).text
    for words in ("BROKEN", "Every GPU is held", "scheduling/all-held", "default/a1", "Next", "Ruled out"):
        assert words in text
    estate = Page(page("survey", "", "all-held-installed")).text
    for words in (
        "Gate 1: numbers",
        "Gate 2: injection",
        "container-toolkit",
        "NVIDIA-A100-SXM4-40GB",
        "Wrong, worst first",
    ):
        assert words in estate


def test_hostile_names_and_texts_stay_text() -> None:
    facts = snapshot(
        {
            "nodes": {"gpu-a": {"metadata": {"labels": {"nvidia.com/gpu.product": HOSTILE}}}},
            "pods": {
                "default/x": {
                    "status": {
                        "phase": "Pending",
                        "conditions": [{"type": "PodScheduled", "status": "False", "message": HOSTILE}],
                    }
                },
                "default/y": {"like": "creating", "spec": {"nodeName": "gpu-a"}},
            },
            "said": [{"about": "pod/default/y", "reason": "Failed", "message": f"unresolvable CDI devices {HOSTILE}"}],
        }
    )
    for target in ("x", "y", ""):
        answer = diagnose(facts, parse_target(target), all_rules())
        seen = Page(render_why(msgspec.structs.replace(answer, headline=HOSTILE)))
        assert (seen.wrong, set(seen.tags) & {"img", "script"}) == ([], set())
    seen = Page(render_survey(survey(facts)))
    assert (seen.wrong, set(seen.tags) & {"img", "script"}) == ([], set())
    assert HOSTILE in seen.text


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_pair_of_colours_can_be_read(scheme: int) -> None:
    style = (Path(__file__).parents[2] / "src/lockgate/cli/render/templates/page.html.j2").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", (light, dark)[scheme]))
    pairs = [("ink", "page"), ("ink", "card"), ("soft", "card"), ("soft", "page"), ("ink", "code")]
    pairs += [(name, f"{name}-back") for name in ("bad", "warn", "good", "info")]
    assert {pair: ratio for pair in pairs if (ratio := contrast(*(colours[c] for c in pair))) < 4.5} == {}
