"""`completion bash|zsh|fish`: a script that completes verbs, flags, their values and kinds of targets."""

import argparse
import sys

DESCRIPTION = "Print a completion script for a shell."
EXAMPLES = """examples:
  source <({prog} completion bash)
  {prog} completion zsh > "${{fpath[1]}}/_lockgate"
  {prog} completion fish > ~/.config/fish/completions/lockgate.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """For which shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to complete in")


def run(options: argparse.Namespace) -> int:
    """Print the script; returns the exit code."""
    from lockgate.cli import completing

    words = completing.verbs()
    scripts = {"bash": completing.bash, "zsh": completing.zsh, "fish": completing.fish}
    sys.stdout.write(scripts[options.shell](words))
    return 0
