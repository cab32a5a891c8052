"""`lint`: what is wrong with containerd's files, CDI specifications and manifests. It only looks, without `--fix`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.cli.sources import FactsError, complain
from lockgate.cli.subjects import Looked, add_subject_arguments, read_subjects
from lockgate.cli.waivers import add_waiver_arguments, tell_void, waivers_today

if TYPE_CHECKING:
    from lockgate.lint.report import LintReport
    from lockgate.lint.suppress import Ignore

DESCRIPTION = (
    "Say what is wrong with containerd's configuration, CDI specifications and the manifests of GPU workloads, line by "
    "line, and what heals it."
)
EXAMPLES = """examples:
  {prog} lint /etc/containerd/config.toml --release 1.7.24
  {prog} lint ./etc-containerd --release 2.1.9 --diff
  {prog} lint bundle.tgz --node gpu-3 -o sarif
  {prog} lint --node gpu-3                         what the node's agent published
  {prog} lint deploy/ --diff                       manifests: a file or a folder of them
  helm template ./chart | {prog} lint -            what a chart renders
  {prog} lint deploy/infer -n ml                   a workload of the cluster, against its nodes
  {prog} lint -l team=ml -A                        every workload with a label
  {prog} lint app.yaml --against-cluster           a manifest before it is applied
  {prog} lint . --ignore 'containerd/cdi-off=*/old/*'

In a file, a comment on the line, above it or at the top suppresses a finding:
  # lockgate: ignore containerd/cdi-off -- the plugin of this pool hands out device specs

exit codes: 0 nothing to say, 1 the tool or the cluster failed, 2 bad usage or input,
            3 a finding of severity error or blocker, 4 only warnings, or something decisive not checked
"""
_NO_KIND = (
    "nothing that lint knows: no manifest (apiVersion), no CDI specification (cdiVersion), no containerd configuration"
)
_FORMATS = ("text", "json", "sarif", "junit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to judge, how to print it, and whether to mend it."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="config.toml, a folder for /etc/containerd or /, CDI files, a bundle; manifests, a folder of them, - for "
        "stdin; pod/NAME, deploy/NAME, ... of the cluster",
    )
    parser.add_argument("-n", "--namespace", default="", help="the namespace of a workload that is named, or of -l")
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="with -l: workloads of all namespaces")
    parser.add_argument(
        "-l", "--selector", default="", metavar="LABELS", help="the cluster's workloads with these labels: app=train"
    )
    parser.add_argument(
        "--against-cluster", action="store_true", help="judge manifests against the cluster's nodes and RuntimeClasses"
    )
    parser.add_argument("-o", "--output", choices=_FORMATS, default="text", help="text (default), json, sarif, junit")
    parser.add_argument("--no-color", action="store_true", help="plain text; so does the environment variable NO_COLOR")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID[=GLOB]", help="leave out a finding; may be repeated"
    )
    add_waiver_arguments(parser)
    edits = parser.add_mutually_exclusive_group()
    edits.add_argument(
        "--diff", action="store_true", help="print the edits that heal, as a unified diff; write nothing"
    )
    edits.add_argument("--fix", action="store_true", help="write the edits that heal into the named files")
    add_subject_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, judge, print or mend; returns the exit code of what is left."""
    from lockgate.collect.errors import InputError
    from lockgate.lint import all_rules
    from lockgate.lint.engine import lint
    from lockgate.lint.suppress import Ignore

    try:
        waivers = waivers_today(options)
        ignores = [*map(Ignore.parse, options.ignore), *map(Ignore.of, waivers.holding)]
        strange = _strange(options.paths)
        looked = _read([path for path in options.paths if path not in strange], options)
        if options.diff:
            sys.stdout.write("".join(_diff(one, ignores) for one in looked))
        elif options.fix:
            looked = [_fix(one, ignores) for one in looked]
    except FactsError as error:
        return complain(f"lint: {error}", error.code)
    except InputError as error:
        return complain(f"lint: {error}", 2)
    if strange:
        complain(f"lint: {', '.join(strange)}: {_NO_KIND}", 2)
        if not looked:
            return 2
    report = _joined([lint(one.subject, all_rules(), ignores) for one in looked])
    tell_void(waivers, (finding.id for finding in report.findings))
    if not options.diff:
        _print(report, options)
    return 2 if strange and report.exit_code != 3 else report.exit_code


def _strange(paths: list[str]) -> list[str]:
    """The files that are nothing that lint knows."""
    from lockgate.cli.manifest_subjects import is_manifest
    from lockgate.collect.node_files import is_node_file

    files = [path for path in paths if not is_manifest(path) and Path(path).is_file()]
    return [path for path in files if not is_node_file(Path(path))]


def _read(paths: list[str], options: argparse.Namespace) -> "list[Looked]":
    """What is about nodes and what is about manifests may be named together."""
    from lockgate.cli.manifest_subjects import is_manifest, manifest_subjects, selected_subjects

    if options.selector:
        return selected_subjects(options)
    if options.paths and not paths:
        return []
    manifests = [path for path in paths if is_manifest(path)]
    nodes = [path for path in paths if path not in manifests]
    found = read_subjects(nodes, options) if nodes or not manifests else []
    return found + manifest_subjects(manifests, options)


def _fixed(one: Looked, ignores: "list[Ignore]") -> dict[str, str]:
    """The new texts of the files that edits heal: only files that may be written, or all where none can be."""
    from lockgate.lint import all_rules
    from lockgate.lint.engine import fix_all

    allowed = frozenset(one.writable) if one.writable else frozenset(one.subject.files)
    return fix_all(one.subject, all_rules(), allowed, ignores)


def _diff(one: Looked, ignores: "list[Ignore]") -> str:
    from lockgate.cli.render.unified_diff import render_diff

    fixed = _fixed(one, ignores)
    return "".join(render_diff(one.subject.show(p), one.subject.text(p), text) for p, text in sorted(fixed.items()))


def _fix(one: Looked, ignores: "list[Ignore]") -> Looked:
    from dataclasses import replace

    from lockgate.apply.files import write_file

    if not one.writable:
        if not one.subject.files:
            return one
        what = one.subject.name or _what(one)
        raise FactsError(f"--fix writes files of this machine, not of {what}; --diff shows the edits", 2)
    fixed = _fixed(one, ignores)
    for path, text in sorted(fixed.items()):
        try:
            write_file(one.writable[path], text.encode())
        except OSError as error:
            raise FactsError(f"{one.subject.show(path)}: cannot be written ({error.strerror or error})", 1) from None
        sys.stderr.write(f"wrote {one.subject.show(path)}\n")
    return replace(one, subject=one.subject.edited(fixed))


def _what(one: Looked) -> str:
    return next(iter(one.subject.shown.values()), "it") if one.subject.holds_manifests else "an archive"


def _joined(reports: "list[LintReport]") -> "LintReport":
    from lockgate import __version__
    from lockgate.lint.report import LintReport
    from lockgate.model.finding import Tool

    return LintReport(
        findings=tuple(sorted((f for r in reports for f in r.findings), key=lambda f: -f.severity.rank)),
        suppressed=tuple(s for r in reports for s in r.suppressed),
        not_checked=tuple(n for r in reports for n in r.not_checked),
        linted=tuple(dict.fromkeys(path for r in reports for path in r.linted)),
        tool=Tool(version=__version__),
    )


def _print(report: "LintReport", options: argparse.Namespace) -> None:
    match options.output:
        case "json":
            from lockgate.cli.render.lint_json import render_json

            sys.stdout.write(render_json(report))
        case "sarif":
            from lockgate.cli.render.sarif import render_sarif

            sys.stdout.write(render_sarif(report))
        case "junit":
            from lockgate.cli.render.junit import render_junit

            sys.stdout.write(render_junit(report))
        case _:
            from lockgate.cli.render.lint_text import print_report

            print_report(report, no_color=options.no_color)
