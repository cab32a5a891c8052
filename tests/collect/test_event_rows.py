"""Events as kubectl 1.32 printed them: messages of several lines, columns that nobody filled, and every width.

Recorded from `kubectl describe pod` and `kubectl events [-A]`; what `kubectl get events` prints is of 1.37's printer.
"""

import pytest

from lockgate.collect.describe_events import events_about
from lockgate.collect.describe_lines import whole_lines
from lockgate.collect.event_rows import looks_like_events, rows
from lockgate.collect.event_table import parse_events
from lockgate.model.objects import Event, ObjectReference
from tests.collect.test_pasted import table

TRAIN = ObjectReference(kind="Pod", namespace="ml", name="train")
PLACED = "Successfully assigned ml/train to g7"
XID = "NVRM: Xid (PCI:0000:3b:00): 79, gone"
BACK_OFF = "Back-off restarting failed container"
THIRD = "Error: third\nAuto-detected\n\nafter a blank: unknown"
BROKEN = ("Warning", "Failed", "pod/train")
SAID = [
    ("Scheduled", "default-scheduler", PLACED),
    ("Failed", "kubelet", "Error: first\nsecond line: unknown"),
    ("Xid", "", XID),
    ("VeryLongReasonThatIsWide", "kubelet", THIRD),
    ("Odd", "", "done"),
    ("BackOff", "kubelet", BACK_OFF),
]
DESCRIBED = f"""\
Events:
  Type     Reason     Age                From               Message
  ----     ------     ----               ----               -------
  Normal   Scheduled  41m                default-scheduler  {PLACED}
  Warning  Failed     29m (x9 over 41m)  kubelet            Error: first
second line: unknown
  Warning  Xid                       41m                            {XID}
  Warning  VeryLongReasonThatIsWide  27m (x1000 over 41m)  kubelet  Error: third
Auto-detected

after a blank: unknown
  Warning  Odd      41m           done
  Warning  BackOff  41m  kubelet  {BACK_OFF}
"""
TABLE = f"""\
LAST SEEN           TYPE      REASON      OBJECT      MESSAGE
41m                 Normal    Scheduled   Pod/train   {PLACED}
29m (x9 over 41m)   Warning   Failed      Pod/train   Error: first
second line: unknown
41m                    Warning   Xid                        Pod/train   {XID}
27m (x1000 over 41m)   Warning   VeryLongReasonThatIsWide   Pod/train   Error: third
Auto-detected

after a blank: unknown
41m                    Warning   Odd                        Pod/train   done
41m                    Warning   BackOff                    Pod/train   {BACK_OFF}
"""


def described(text: str) -> list[Event]:
    return list(events_about(TRAIN, whole_lines(text)))


def read(text: str) -> list[Event]:
    return [event for event, _ in rows(text.split("\n"), "ml")]


def test_a_description_tells_whose_words_each_event_is_or_that_they_are_nobodys() -> None:
    assert [(e.reason, e.reporting_component, e.message) for e in described(DESCRIBED)] == SAID


def test_the_last_event_of_a_description_may_be_the_only_one_of_its_columns() -> None:
    last = DESCRIBED[DESCRIBED.index("  Warning  Failed") : DESCRIBED.index("  Warning  Xid")]
    nobody = f"{last}  Warning  Xid  41m    {XID}\n"
    kubelet = f"{last}  Warning  Xid  41m  kubelet  {XID}\n"
    assert [(e.reporting_component, e.message) for e in described(nobody)[1:]] == [("", XID)]
    assert [(e.reporting_component, e.message) for e in described(kubelet)[1:]] == [("kubelet", XID)]


def test_rows_without_a_head_above_them_keep_their_source() -> None:
    rest = DESCRIBED[DESCRIBED.index("  Normal   Scheduled") :]
    assert [(e.reason, e.reporting_component, e.message) for e in described(rest)] == SAID
    (alone,) = described("  Normal   Scheduled  41m                default-scheduler  placed")
    assert (alone.reporting_component, alone.message) == ("default-scheduler", "placed")


@pytest.mark.parametrize("namespace", ["", "ml          "])
@pytest.mark.parametrize("head", [True, False])
def test_an_event_list_keeps_every_line_of_its_messages(namespace: str, head: bool) -> None:
    lines = [
        (("NAMESPACE   " if line.startswith("LAST") else namespace) if namespace and " Pod/" in line else "") + line
        for line in TABLE.splitlines()[0 if head else 1 :]
    ]
    if head and namespace:
        lines[0] = f"NAMESPACE   {lines[0]}"
    found = read("\n".join(lines))
    assert [(e.reason, e.message) for e in found] == [(reason, text) for reason, _, text in SAID]
    assert {e.about for e in found} == {TRAIN}
    assert [e.count for e in found] == [None, 9, None, 1000, None, None]


@pytest.mark.parametrize(
    "below", ["\n\nthat is all I have", "\nuser@host:~$ kubectl get pods\nNAME", "\nNAME   READY   STATUS\nx   0/1   Y"]
)
def test_what_stands_below_a_list_is_no_message(below: str) -> None:
    assert read(TABLE.rstrip() + below)[-1].message == BACK_OFF


WIDE_HEAD = (
    *("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE"),
    *("FIRST SEEN", "COUNT", "NAME"),
)
WIDE_ROWS: list[tuple[str, ...]] = [
    ("ml", "29m", *BROKEN, "spec.containers{main}", "kubelet, g7", BACK_OFF, "41m", "9", "train.2a"),
    ("ml", "41m", "Warning", "Xid", "pod/train", "", "", XID, "41m", "1", "train.3a"),
    ("ml", "41m", "Normal", "Odd", "pod/train", "", "default-scheduler", "a  b", "41m", "1", "train.4a"),
]
WIDE_SAID = [
    ("kubelet", "g7", "spec.containers{main}", BACK_OFF, 9),
    ("", "", "", XID, 1),
    ("default-scheduler", "", "", "a  b", 1),
]


def wide(text: str) -> list[tuple[str, str, str, str, int | None]]:
    return [(e.source.component, e.host, e.about.field_path, e.message, e.count) for e in read(text)]


def test_the_wide_list_tells_source_node_container_and_count() -> None:
    text = table(WIDE_ROWS, WIDE_HEAD).decode()
    assert wide(text) == WIDE_SAID
    assert {e.about.namespace for e in read(text)} == {"ml"}


def test_the_node_of_the_kubelet_is_the_pods() -> None:
    (pod,) = parse_events(table(WIDE_ROWS[:1], WIDE_HEAD).decode(), "ml").known_pods
    assert pod.spec.node_name == "g7"


@pytest.mark.parametrize("number", range(3))
def test_a_row_of_the_wide_list_alone_is_understood_too(number: int) -> None:
    row = table(WIDE_ROWS, WIDE_HEAD).decode().splitlines()[number + 1]
    assert looks_like_events(row)
    assert wide(row) == [WIDE_SAID[number]]


def test_blanks_that_a_chat_took_away_do_not_matter() -> None:
    collapsed = "\n".join(" ".join(line.split()) for line in TABLE.splitlines())
    assert [(e.reason, e.message) for e in read(collapsed)] == [(reason, text) for reason, _, text in SAID]


def test_what_kubectl_watches_has_a_column_before_the_others() -> None:
    row: tuple[str, ...] = ("ADDED", "5m", "Warning", "Xid", "pod/train", XID)
    watched = table([row], ("EVENT", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")).decode()
    assert [e.message for e in read(watched)] == [XID]
    assert [e.message for e in read(watched.partition("\n")[2])] == [XID]


@pytest.mark.parametrize(
    "text",
    [
        "5m ago the Warning came",
        "NAME   READY\nx   5m",
        "- 5m Warning Xid pod/train x",
        "  Warning  Xid  5m  kubelet  x",
    ],
)
def test_other_text_is_no_event_list(text: str) -> None:
    assert not looks_like_events(text)


class Counting(str):
    """A line that counts how often its length is asked for."""

    asked = 0

    def __len__(self) -> int:  # type: ignore[explicit-override]
        Counting.asked += 1
        return super().__len__()


def test_what_follows_a_row_is_looked_at_once_however_many_lines_it_has() -> None:
    head = "LAST SEEN   TYPE      REASON   OBJECT   MESSAGE"
    blank = Counting("")
    event, _ = next(rows((head, "5m          Warning   Failed   Pod/x    boom", *[blank] * 20_000), "ml"))
    assert event.message == "boom"
    assert Counting.asked < 5 * 20_000
