"""The pages of `explain`: one for each rule of `why` and of `lint`, one for each topic, one for each XID."""

import re
from importlib.resources import files

import msgspec

from lockgate.diagnosis.near_ids import near_ids
from lockgate.diagnosis.recognise import recognise
from lockgate.lint import all_rules as lint_rules
from lockgate.rules import all_rules
from lockgate.xid.codes import code_of
from lockgate.xid.policies import by_default

_WORD = re.compile(r"[a-z0-9][a-z0-9.]+|(?=([\u4e00-\u9fff\uac00-\ud7a3]{2}))")  # Chinese and Korean: by two characters
_XID = re.compile(r"(?:(?:nvidia)?xid[\s:#=-]*)?(?P<code>\d{1,3})(?:error)?", re.IGNORECASE)  # NvidiaXID79Error is EKS'
_COUNTED = re.compile(r"Init:\d+/\d+", re.IGNORECASE)
_HEADS = ("Asked as:", "Words:", "Shown by:", "Numbers:")  # lines of a topic that are no prose
_NEAR = 0.4  # how near a question has to come
_COMMON = frozenset(
    {"the", "and", "how", "what", "why", "does", "did", "for", "with", "from", "into", "you", "your", "are", "that"}
    | {"this", "not", "has", "have"}
)


class Page(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is known about one finding or topic; `text` is plain text without the title.

    `asked` are questions that it answers, `words` what programs call its matter, `shown_by` patterns of the findings in
    which a cluster shows it, `numbers` the parts of `survey` that belong to it.
    """

    kind: str  # finding | lint | topic | xid
    id: str
    title: str
    codes: tuple[str, ...] = ()
    severity: str = ""
    text: str
    asked: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


def all_pages() -> tuple[Page, ...]:
    """Every page: topics, then findings of `why`, then those of `lint`, each in the order of ids."""
    return (*_topics(), *_findings(), *_lint())


def find(asked: str) -> tuple[Page, ...]:
    """The pages for what was typed: an id, a catalogue code, a topic, a question, or a pasted error text.

    The most telling comes first; empty when nothing fits.
    """
    pages = all_pages()
    wanted = asked.strip()
    exact = [p for p in pages if wanted.lower() in (p.id, p.id.rpartition("/")[2])]
    if exact:
        return tuple(exact)
    coded = [p for p in pages if wanted.upper() in p.codes]
    if coded or re.fullmatch(r"[A-Za-z]\d\d", wanted):
        return tuple(coded)
    named = tuple(p for p in pages if _COUNTED.sub("Init:0/1", wanted).lower() in map(str.lower, p.words))
    by_id = {p.id: p for kind in ("lint", "finding") for p in pages if p.kind == kind}  # of both, that of `why`
    if code := _XID.fullmatch(wanted):
        return (_xid(int(code["code"])), *_recognised(f"NVRM: Xid (PCI:0000:3b:00): {code['code']}, ", by_id))
    known = _recognised(wanted, by_id)
    if named:
        return (*named, *known)
    nearness, topics = _about(wanted, pages)
    # A question that a topic answers word by word may hold a text that rules know as well.
    return (*topics, *known) if nearness == 1.0 else known or topics


def _recognised(text: str, by_id: dict[str, Page]) -> tuple[Page, ...]:
    return tuple(by_id[name] for name in recognise(text, all_rules()))


def suggestions(asked: str) -> tuple[str, ...]:
    """Ids that come near what was typed."""
    return near_ids(asked, sorted({p.id for p in all_pages()}))


def _about(asked: str, pages: tuple[Page, ...]) -> tuple[float, tuple[Page, ...]]:
    """The topics with the question that comes nearest, and how near; a single common word is no match."""
    words = _words(asked)
    if len(words) < 2:
        return 0.0, ()
    scored = [(max(_nearness(words, _words(q)) for q in (*p.asked, p.title)), p) for p in pages if p.kind == "topic"]
    best = max((score for score, _ in scored), default=0.0)
    return best, tuple(p for score, p in scored if score == best) if best >= _NEAR else ()


def _nearness(asked: set[str], question: set[str]) -> float:
    """Twice what both share by what both have; half of what was asked has to be in the question."""
    shared = len(asked & question)
    return 2 * shared / (len(asked) + len(question)) if shared >= len(asked) / 2 else 0.0


def _words(text: str) -> set[str]:
    found = (match[1] or match[0].rstrip(".") for match in _WORD.finditer(text.lower()))
    return {word for word in found if word} - _COMMON


def _topics() -> list[Page]:
    found = []
    for file in sorted(files("lockgate.topics").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            found.append(_topic(file.name[:-3], text))
    return found


def _topic(name: str, text: str) -> Page:
    title, _, body = text.partition("\n")
    said: dict[str, list[str]] = {head: [] for head in _HEADS}
    kept: list[str] = []
    for line in body.splitlines():
        head = next((h for h in _HEADS if line.startswith(h)), "")
        (said[head] if head else kept).append(line.removeprefix(head).strip() if head else line)
    asked, words, shown, numbers = (said[head] for head in _HEADS)
    return Page(
        kind="topic",
        id=name,
        title=title.lstrip("# "),
        text="\n".join(kept).strip(),
        asked=tuple(asked),
        words=tuple(word.strip() for line in words for word in line.split(",")),
        shown_by=tuple(" ".join(shown).split()),
        numbers=tuple(" ".join(numbers).split()),
    )


def _findings() -> list[Page]:
    return [
        Page(kind="finding", id=r.id, title=r.title, codes=r.codes, severity=r.severity.value, text=_body(r.page))
        for r in all_rules()
    ]


def _lint() -> list[Page]:
    return [
        Page(kind="lint", id=r.id, title=r.title, codes=r.codes, severity=r.severity.value, text=_body(r.page))
        for r in lint_rules()
    ]


def _xid(number: int) -> Page:
    """What one XID means, what NVIDIA asks for, and who acts on it."""
    code = code_of(number)
    asks = f"NVIDIA's action: {code.action}.\n" if code.action else ""
    acts = "".join(f"\n- {policy.who}: {policy.does}" for policy in by_default(number))
    text = f"{code.meaning[:1].upper()}{code.meaning[1:]}.\n{asks}\nBy default:\n{acts}"
    return Page(kind="xid", id=f"xid-{number}", title=f"XID {number} {code.name}".strip(), text=text)


def _body(page: str) -> str:
    return page.partition("\n")[2].strip()
