"""`why pod/x --watch`: tells which gate the pod passes and when, and every change of the answer, until it runs."""

import argparse
import datetime as dt
import sys
import textwrap
from typing import TYPE_CHECKING

from lockgate.cli.sources import access_of, complain, tell
from lockgate.cli.waivers import waivers_today

if TYPE_CHECKING:
    from lockgate.diagnosis.target import Target
    from lockgate.model.facts import Snapshot
    from lockgate.model.finding import Diagnosis
    from lockgate.model.objects import Pod


def watch(options: argparse.Namespace, target: "Target") -> int:
    """Follow a pod; returns the exit code of the last answer."""
    import asyncio

    from lockgate.collect.watching import watch_pod
    from lockgate.kube.errors import ApiError, Unreachable

    printable = options.streams and options.output in ("text", "json")
    if target.kind != "Pod" or options.source is not None or not printable:
        return complain("--watch follows pod/NAME of a live cluster, as text or json (one document a line)", 2)
    story = _Story(options, target)
    try:
        asyncio.run(watch_pod(access_of(options), target.name, target.namespace, story.see, _say))
    except (ApiError, Unreachable) as error:
        return complain(str(error), 1)
    return story.code


def _say(line: str) -> None:
    tell(f"lockgate: {line}")


class _Story:
    """What was told so far; the same is not told twice."""

    def __init__(self, options: argparse.Namespace, target: "Target") -> None:
        self._options, self._target = options, target
        self._waivers = waivers_today(options)
        self._uid: str | None = None
        self._steps: set[str] = set()
        self._answer: object = None
        self._headlines: set[str] = set()  # since the answer is this one
        self._causes: object = ()
        self.code = 0

    def see(self, snapshot: "Snapshot") -> bool:
        """Tell what is new; whether there is nothing more to wait for."""
        from lockgate.diagnosis.passage import is_over
        from lockgate.diagnosis.target import TargetMissingError, find

        try:
            (pod,) = find(snapshot, self._target).pods
        except TargetMissingError as error:
            self._gone(str(error))
            return False
        self._begin(pod)
        self._pass(pod)
        self._judge(snapshot)
        return is_over(pod)

    def _gone(self, text: str) -> None:
        if self._uid != "":
            waits = f"{self._target.text} was deleted" if self._uid else text
            self._line("gone", f"{waits}; waiting for one of that name")
        self._uid, self._answer, self._causes = "", None, ()

    def _begin(self, pod: "Pod") -> None:
        if self._uid != pod.metadata.uid:
            if self._uid is not None:
                self._line("new", f"{self._target.text} was made", pod.metadata.creation_timestamp)
            self._uid, self._steps = pod.metadata.uid, set()

    def _pass(self, pod: "Pod") -> None:
        from lockgate.diagnosis.passage import passed

        for step in passed(pod):
            if step.step not in self._steps:
                self._steps.add(step.step)
                self._line(step.step, step.text, step.at)

    def _judge(self, snapshot: "Snapshot") -> None:
        from lockgate.diagnosis.engine import diagnose
        from lockgate.rules import all_rules

        answer = diagnose(snapshot, self._target, all_rules(), self._waivers)
        self.code = answer.exit_code
        told = answer.verdict, tuple(f.id for f in answer.findings)
        if told != self._answer:
            self._answer, self._headlines = told, set()
        if answer.headline not in self._headlines:  # a kubelet that tries again says by turns that it waits and fails
            self._headlines.add(answer.headline)
            self._show(answer)

    def _show(self, answer: "Diagnosis") -> None:
        if self._options.output == "json":
            import msgspec

            stamped = msgspec.structs.replace(answer, generated_at=_now())
            sys.stdout.write(msgspec.json.encode(stamped).decode() + "\n")
            sys.stdout.flush()
            return
        causes = tuple(f.id for f in answer.findings)
        if causes and causes != self._causes:
            self._line("why", f"{answer.verdict.value.upper()}")
            self._whole(answer)
        else:
            self._line("now", answer.headline)
        self._causes = causes

    def _whole(self, answer: "Diagnosis") -> None:
        from lockgate.cli.render.text import print_text

        print_text(answer, no_color=self._options.no_color)
        sys.stdout.write("\n")
        sys.stdout.flush()

    def _line(self, word: str, text: str, at: dt.datetime | None = None) -> None:
        """`19:04:11Z  gate 1 passed  it has a place on gpu-a`; JSON is for answers alone, so it goes to stderr then."""
        from lockgate.cli.render.lines import WIDTH

        moment = (at or _now()).astimezone(dt.UTC).strftime("%H:%M:%SZ")
        lines = textwrap.wrap(
            f"{moment}  {word:<13}  {text}", WIDTH, subsequent_indent=" " * 26, break_on_hyphens=False
        )
        stream = sys.stderr if self._options.output == "json" else sys.stdout
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC).replace(microsecond=0)
