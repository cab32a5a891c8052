"""`make demo`: what `kubectl gpu why` says of recorded clusters, as a user would see it. No root, no Go, no cluster."""

import subprocess
import sys
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
BUNDLES = ROOT / "tests" / "bundles"


def main() -> int:
    """Show every bundle that has a place in the demo; fails when one of them ends otherwise than recorded."""
    started = time.monotonic()
    shown = sorted(_shown(), key=lambda item: item[0])
    failed = [name for _, name, about, case in shown if not _show(name, about, case)]
    print(f"\n{len(shown)} recorded clusters in {time.monotonic() - started:.1f} s. Try one yourself:")
    print(f"  {_command(shown[-1][1], shown[-1][3])} -o json")
    if failed:
        print(f"answered otherwise than recorded: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _shown() -> list[tuple[int, str, str, dict]]:
    documents = {path.stem: yaml.safe_load(path.read_text()) for path in BUNDLES.glob("*.yaml")}
    return [(d["demo"], name, d["about"], d["cases"][0]) for name, d in documents.items() if "demo" in d]


def _command(name: str, case: dict) -> str:
    return f"kubectl gpu why {case['ask']} --from tests/bundles/{name}.tgz"


def _show(name: str, about: str, case: dict) -> bool:
    """Print the command and what it says; whether it ended as recorded."""
    print(f"\n{'─' * 100}\n# {about}\n$ {_command(name, case)}\n", flush=True)
    arguments = ["why", case["ask"], "--from", f"tests/bundles/{name}.tgz"]
    code = subprocess.run([sys.executable, "-m", "lockgate.cli.main", *arguments], cwd=ROOT, check=False).returncode
    print(f"\nexit code {code}", flush=True)
    return code == case["exit"]


if __name__ == "__main__":
    raise SystemExit(main())
