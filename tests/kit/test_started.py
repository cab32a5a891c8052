"""Which programs a command line starts."""

import pytest

from lockgate.kit.started import programs


@pytest.mark.parametrize(
    ("words", "started"),
    [
        ((), ()),
        (("/usr/bin/plugin", "--config", "/etc/other"), ("plugin",)),
        (("/sbin/tini", "-g", "--", "/usr/bin/plugin"), ("plugin",)),
        (("env", "A=b", "plugin"), ("plugin",)),
        (("grep", "-r", "plugin"), ("grep",)),
        (("bash", "/bin/wait.sh", "plugin"), ()),
        (("/bin/sh", "-c"), ()),
        (("tini", "--", "sh", "-ec", "exec plugin", "other"), ("plugin",)),
    ],
)
def test_a_command_line_starts_its_first_word(words: tuple[str, ...], started: tuple[str, ...]) -> None:
    assert programs(words) == started


@pytest.mark.parametrize(
    "script",
    [
        "plugin",
        "sleep 5; exec /usr/bin/plugin --x=y",
        "true && plugin",
        "false || plugin",
        "yes | plugin",
        "sleep 5 & plugin",
        "set -e\n# the plugin's own words\nplugin --x",
        "while true; do plugin; done",
        "if [ -e /dev/nvidia0 ]; then plugin; fi",
        'LD_LIBRARY_PATH="/a b" exec "$ROOT/usr/bin/plugin" --x',
        "exec \\\n  plugin",
        "until (plugin --check); do sleep 1; done",
        "x=`plugin --version`",
    ],
)
def test_a_word_in_command_position_is_started(script: str) -> None:
    assert "plugin" in programs(("bash", "-c", script))


@pytest.mark.parametrize(
    "script",
    [
        "echo waiting for plugin",
        "journalctl -f | grep plugin",
        "exec /usr/bin/vector --config /etc/plugin",
        "kubectl rollout status ds/plugin",
        "echo 'first; plugin'",
        'echo "first\nplugin"',
        "# first; plugin\nsleep infinity",
        "grep \\\n plugin /etc/x",
        "x=plugin",
        "echo \\; plugin",
        "echo 'never closed; plugin",
    ],
)
def test_a_word_that_is_only_mentioned_is_not(script: str) -> None:
    assert "plugin" not in programs(("bash", "-c", script))
