"""Spellings at the edge of TOML: what one library reads, another refuses, and a third reads differently."""

from random import Random

# fmt: off
VALUES = (
    "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "-9223372036854775808", "-9223372036854775809", "inf", "-inf", "+inf", "nan", "1e3", "1E-3", "1.5e+3", "1.", ".5",
    "+0", "-0", "0x1F", "0xdead_beef", "-0x1", "0o17", "0o8", "0b102", "00", "01", "007", "1__0", "_1", "1_", "1_000.5",
    r'"\e"', r'"\x41"', r'"\/"', r'"\u00E9"', r'"\uD800"', r'"\U0001F600"', r'"\u12"', '"a\tb"', "'a\tb'", '"a\x01b"',
    "'a\x01b'", '"\x7f"', '"é"', "'ü'", '""', "''", '"""a"b""c"""', '"""a""""', '"""a"""""', '"""\\\n  a"""',
    '"""a\r\nb"""', "'''a'b'''", "'''a''''", '"""\\ \n a"""', '"a\nb"', "'a\nb'", "[ ]", "[,]", "[1,]", "[1,,2]",
    "[1 2]", "0.1_0", '""""""',
    "[[1],[]]",
    '[1, "a"]', "[1, 2.5]", "[{a=1},{b=2}]", "[{a=1}, 1]", "[\n#c\n1\n]", "{}", "{ }", "{a=1,}", "{a=1 b=2}",
    "{a=1,\nb=2}", "{a.b=1, a.c=2}", "{a=1, a=2}", "{a=1, a.b=2}", "{'q q' = 1}", "{a={b={}}}", "true", "false", "TRUE",
    "truex", "true x", "1979-05-27", "1979-05-27 ", "1979-13-27", "1979-02-30", "1979-05-27t07:32:00z",
    "1979-05-27T07:32Z", "1979-05-27 07:32:00", "1979-05-27T07:32:00+25:00", "1979-05-27T07:32:00.123456Z",
    "1979-05-27T07:32:00-07:00", "07:32", "07:32:00.5", "24:00:00", "07:32:00 ", "1979-05-27 # c", "abc", '"a" "b"',
    '"a"x', "1 # c", "1#c", "$", "\\", "(", "@a",
)
KEYS = (
    "v", '"v w"', "'v.w'", '""', "''", "a.b.c", "a . b", 'a."b.c"', "é", "a-b_c", "1", "1.2", "-", "a..b", ".a", "a.",
    r'"\u0061"', "a b", "a\tb", "#", "v=", "'a", '"a\nb"',
)
# fmt: on


def edge(random: Random) -> str:
    """A section of a plugin that no release knows, so that 2.x prints what it has read of it."""
    lines = [f'[plugins."io.containerd.acme.v1.{random.choice("abc")}"]', "before = 1"]
    for _ in range(random.randrange(1, 3)):
        key = random.choice(KEYS) if random.randrange(100) < 15 else f"k{random.randrange(4)}"
        lines.append(f"{key} = {random.choice(VALUES)}")
    return "\n".join([*lines, "after = true"])
