"""An answer is put together alike however its bytes are cut, and what is no HTTP is told."""

import httpx2
import pytest

from lockgate.kube.answer import Answer

SIZED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\nhello world"
PIECES = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n6;name=x\r\n world\r\n0\r\nExpires: now\r\n\r\n"
)
OPEN = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world"


def heard(data: bytes, size: int) -> Answer:
    """What comes of bytes that arrive so many at a time."""
    answer, at = Answer(), 0
    while at < len(data):
        room = answer.room()
        piece = data[at : at + min(size, len(room))]
        room[: len(piece)] = piece
        answer.took(len(piece))
        at += len(piece)
    return answer


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
@pytest.mark.parametrize("data", [SIZED, PIECES, b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + SIZED])
def test_an_answer_is_whole_with_its_last_byte(data: bytes, size: int) -> None:
    assert not heard(data[:-1], size).is_whole
    answer = heard(data, size)
    assert (answer.is_whole, answer.is_last) == (True, False)
    assert (answer.version, answer.status, answer.reason) == (b"1.1", 200, b"OK")
    assert answer.body == b"hello world"


def test_a_long_body_is_received_where_it_belongs() -> None:
    body = bytes(range(256)) * 8192
    answer = heard(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body), 100_000)
    assert answer.body == body


def test_a_long_body_in_pieces_is_taken_whole() -> None:
    pieces = [bytes([n]) * (n * 50) for n in range(1, 256)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    answer = heard(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n", 65_536)
    assert answer.is_whole
    assert answer.body == b"".join(pieces)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_body_without_a_length_ends_with_the_connection(size: int) -> None:
    answer = heard(OPEN, size)
    assert not answer.is_whole
    answer.ended()
    assert (answer.is_whole, answer.is_last, answer.body) == (True, True, b"hello world")


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No Content", b"HTTP/1.1 200 \r\nContent-Length: 0", b"HTTP/1.1 304 x"])
def test_an_answer_may_have_no_body(head: bytes) -> None:
    answer = heard(head + b"\r\n\r\n", 1000)
    assert (answer.is_whole, answer.is_last, answer.body) == (True, False, b"")


@pytest.mark.parametrize("data", [SIZED + b"more", PIECES + b"more", SIZED.replace(b"HTTP/1.1", b"HTTP/1.0")])
def test_a_connection_that_says_more_than_was_asked_or_cannot_go_on_is_not_used_again(data: bytes) -> None:
    answer = heard(data, 1000)
    assert (answer.is_whole, answer.is_last, answer.body) == (True, True, b"hello world")


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "no HTTP answer: b'SSH-2.0"),
        (HEAD + b"Bad Name: x\r\n\r\n", "no HTTP answer"),
        (HEAD + b"A: b\r\n folded\r\n\r\n", "no HTTP answer"),
        (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "no clear length"),
        (HEAD + b"Content-Length: -1\r\n\r\n", "no clear length"),
        (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "unknown transfer encoding b'gzip, chunked'"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n", "no length of a piece"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n", "longer than its length says"),
        (HEAD + b"A: " + b"x" * 300_000, "too long"),
    ],
)
def test_what_is_no_http_is_told(data: bytes, says: str) -> None:
    with pytest.raises(httpx2.RemoteProtocolError, match=says):
        heard(data, 300_000)


@pytest.mark.parametrize("end", [0, 5, 40, -1])
@pytest.mark.parametrize("data", [SIZED, PIECES])
def test_a_connection_that_ends_too_early_is_told(data: bytes, end: int) -> None:
    answer = heard(data[:end], 1000)
    with pytest.raises(httpx2.RemoteProtocolError, match="middle of the answer" if end else "without sending"):
        answer.ended()
