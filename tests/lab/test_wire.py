"""The simulator answers whatever is said to it, and stays up."""

import asyncio
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.lab.answers.registry import ANSWERS
from lockgate.lab.boards import parse_boards
from lockgate.lab.commands import run_command
from lockgate.lab.control import Control
from lockgate.lab.dispatch import reply_to
from lockgate.lab.launch import running_simulator
from lockgate.lab.machine import Machine, Session
from lockgate.lab.state import new_driver
from lockgate.lab.wire import LINE_LIMIT, MalformedError, Object, Token, parse_request, render_reply

TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
OBJECTS = st.lists(st.integers(0, 9999), min_size=1, max_size=3).map(Object)
TOKENS = st.one_of(st.integers(-(2**63), 2**64 - 1), TEXTS, OBJECTS)


@settings(deadline=None)
@given(st.lists(TOKENS))
def test_tokens_survive_the_way_over_the_wire(tokens: list[Token]) -> None:
    line = render_reply(0, tokens)

    assert line.count(b"\n") == 1
    assert parse_request(b"name " + line) == ("name", (0, *tokens))


@settings(deadline=None)
@given(st.binary())
def test_any_line_is_parsed_or_refused(line: bytes) -> None:
    try:
        name, _ = parse_request(line)
    except MalformedError:
        return
    assert name.isascii()


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine(new_driver(parse_boards("2xA100-40GB,T4,H100-80GB")))


ARGUMENTS = st.lists(
    st.one_of(
        st.integers(-2, 40),
        st.integers(0, 2**64 - 1),
        st.sampled_from([Object((0,)), Object((1,)), Object((2,)), Object((0, 1)), Object((0, 1, 0)), Object((9,))]),
        st.text(max_size=5),
    ),
    max_size=5,
)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from([name for name in sorted(ANSWERS) if "Wait" not in name]), ARGUMENTS)
def test_every_function_answers_any_arguments(machine: Machine, name: str, arguments: list[Token]) -> None:
    async def ask() -> tuple[bytes, bytes]:
        session = Session()
        greeting = await reply_to(machine, session, b"hello 1 0 '580.95.05 '0,1,2,3\n")
        words = render_reply(0, arguments).split(b" ", 1)[1:] or [b"\n"]
        return greeting, await reply_to(machine, session, name.encode() + b" " + words[0])

    greeting, reply = asyncio.run(ask())

    assert greeting == b"0\n"
    assert reply.endswith(b"\n")
    assert reply.split()[0] != b"999"  # UNKNOWN is what a bug of ours becomes


@settings(deadline=None)
@given(st.one_of(st.binary(), st.text().map(str.encode), st.just(b'{"verb": "set", "gpu": 0, "fields": {"lost": 3}}')))
def test_any_command_is_run_or_refused(machine: Machine, line: bytes) -> None:
    before = machine.driver

    assert run_command(machine, line).startswith(b'{"error":')
    assert machine.driver == before


def test_a_command_that_does_not_fit_says_what_does(short_path: Path) -> None:
    path = short_path / "socket"
    with running_simulator(path, ["--gpus", "T4"]):
        control = Control(path)

        with pytest.raises(ValueError, match=r"GPU 0: Expected `int`, got `str` - at `\$\.temperature`"):
            control.set(0, temperature="hot")
        with pytest.raises(ValueError, match=r"unknown field `heat`"):
            control.set(0, heat=3)
        with pytest.raises(ValueError, match=r"no GPU 7; there are 0"):
            control.set(7, temperature=3)
        assert control.set(control.gpus()[0].uuid, temperature=51).temperature == 51


def test_a_client_that_misbehaves_harms_no_other(short_path: Path) -> None:
    path = short_path / "socket"
    with running_simulator(path, ["--gpus", "T4"]):
        quiet, endless, half, gone = (socket.socket(socket.AF_UNIX) for _ in range(4))
        for client in (quiet, endless, half, gone):
            client.connect(str(path))
            client.settimeout(5)
        half.sendall(b"hello 1 0 '580")
        gone.sendall(b"hello 1 0 '580.95.05 '0\nnvmlDeviceRegisterEvents @0 8\nnvmlEventSetWait_v2 60000\n")
        gone.close()
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            for _ in range(10):
                endless.sendall(b"x" * LINE_LIMIT)

        assert len(Control(path).gpus()) == 1
        assert Control(path).xid(0, 31) in (0, 1)
        for client in (quiet, endless, half):
            client.close()


def test_a_socket_may_lie_deep_in_a_tree(short_path: Path) -> None:
    path = short_path / ("long" * 40) / "socket"
    with running_simulator(path, ["--gpus", "T4"]):
        assert len(Control(path).gpus()) == 1


def test_many_clients_are_served_at_once(short_path: Path) -> None:
    path = short_path / "socket"
    with running_simulator(path, ["--gpus", "T4"]):
        clients = [socket.socket(socket.AF_UNIX) for _ in range(300)]
        for client in clients:
            client.settimeout(10)
            client.connect(str(path))
            client.sendall(b"hello 1 0 '580.95.05 '0\n")
        for client in clients:
            assert client.recv(16) == b"0\n"
            client.sendall(b"nvmlDeviceGetCount_v2\n")
        for client in clients:
            assert client.recv(16) == b"0 1\n"
            client.close()


def test_the_state_outlives_a_restart(short_path: Path) -> None:
    path, state = short_path / "socket", short_path / "state.json"
    options = ["--gpus", "T4", "--state", str(state)]
    with running_simulator(path, options):
        Control(path).set(0, temperature=77, processes=[{"pid": 1, "memory": 1}])
        before = Control(path).gpus()[0]
    with running_simulator(path, options):
        after = Control(path).gpus()[0]

    assert (after.uuid, after.temperature) == (before.uuid, 77)
    assert after.processes == ()


def test_a_wrong_board_or_state_ends_in_one_line(short_path: Path) -> None:
    from lockgate.lab.simulator import main

    with pytest.raises(SystemExit, match="no board is called 'V100'; there are T4, A100-SXM4-40GB"):
        main(["--socket", str(short_path / "socket"), "--gpus", "2xV100"])
    (short_path / "state").write_text('{"gpus": 3}')
    with pytest.raises(SystemExit, match="Expected `array`, got `int`"):
        main(["--socket", str(short_path / "socket"), "--state", str(short_path / "state")])
