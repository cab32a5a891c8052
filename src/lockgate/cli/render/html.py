"""Reports as one HTML file: nothing is loaded from anywhere, everything is escaped, readable in the dark too."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lockgate import __version__
from lockgate.cli.render.causes import causes
from lockgate.cli.render.lines import MOST_EVIDENCE, few
from lockgate.cli.render.questions import open_questions
from lockgate.cli.render.text import leading, named
from lockgate.cli.surveying import NodeLine, Offer, Survey
from lockgate.model.finding import Diagnosis, Verdict

_COLOURS = {
    Verdict.HEALTHY: "good",
    Verdict.BROKEN: "bad",
    Verdict.NOT_GPU: "warn",
    Verdict.WARNING: "warn",
    Verdict.WAITING: "warn",
    Verdict.UNKNOWN: "warn",
}


def render_why(diagnosis: Diagnosis) -> str:
    """A diagnosis: verdict, causes with evidence and followers, what to do, what is waived, open and ruled out."""
    return _page("why.html.j2", diagnosis)


def render_survey(seen: Survey) -> str:
    """The estate: both gates of every node, operands, versions, and the diagnosis of the cluster."""
    alike: dict[str, list[str]] = {}
    for node in seen.nodes:
        alike.setdefault(", ".join(f"{name} {version}" for name, version in node.versions.items()), []).append(
            node.node
        )
    return _page("survey.html.j2", seen.diagnosis, seen=seen, alike=list(alike.items()), bar=_bar, state=_state)


def _page(template: str, diagnosis: Diagnosis, **more: Any) -> str:
    environment = Environment(
        loader=PackageLoader("lockgate.cli.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"few": few, "most_evidence": MOST_EVIDENCE}
    every = causes(diagnosis.findings)
    made = diagnosis.generated_at.strftime("%Y-%m-%dT%H:%M:%SZ") if diagnosis.generated_at else ""
    first = leading(diagnosis)
    return environment.get_template(template).render(
        diagnosis=diagnosis,
        heading=f"{named(diagnosis)}: {first.title}" if first else diagnosis.headline,
        summary=first.summary if first else "",
        word=diagnosis.verdict.value.upper(),
        colour=_COLOURS[diagnosis.verdict],
        causes=every,
        left=open_questions(diagnosis),
        remedies=list(dict.fromkeys(r for root, _ in every for r in root.remedy)),
        version=__version__,
        made=made,
        source=diagnosis.source.name,
        **more,
    )


def _bar(offer: Offer) -> Markup:
    """Requested slots, and slots whose device is sick, as parts of the capacity."""
    whole = max(offer.capacity, 1)
    requested = "unknown" if offer.requested is None else offer.requested
    used = min(offer.requested or 0, whole) * 100 // whole
    sick = min(max(offer.capacity - offer.allocatable, 0), whole) * 100 // whole
    parts = Markup('<span class="used" style="width:{}%"></span><span class="sick" style="width:{}%"></span>')
    return Markup('<div class="bar" title="{} requested, {} unhealthy of {}">{}</div>').format(
        requested, max(offer.capacity - offer.allocatable, 0), offer.capacity, parts.format(used, sick)
    )


def _state(node: NodeLine) -> str:
    words = ["NotReady"] if node.ready is False else ["ready" if node.ready else "unknown"]
    return ", ".join([*words, *(["cordoned"] if node.cordoned else [])])
