"""How the TOML libraries of containerd's releases differ: go-toml v1 in 1.x, several releases of go-toml v2 in 2.x."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one TOML library differs from the other."""

    name: str
    major: int
    skips_bom: bool  # go-toml v1 skips a byte order mark, v2 takes it for a bad key
    folds_key_case: bool  # v2 matches struct keys without regard to case; v1 only all-lower and ALL-UPPER
    replaces_maps: bool  # v1 makes a new map for a Go map field, v2 adds to the one that is there
    strict_date_end: bool  # v1 wants a space, a T or the end of the file after a date
    largest: int  # v1 reads integers up to 2**64-1
    escapes: str  # letters that may follow a backslash, beside u and U
    toml_1_1: bool  # times without seconds, a last comma in inline tables: v2.4
    inline_over_lines: bool  # inline tables may span lines: v1 and v2.4
    lowercase_dates: bool  # t and z in a date: v2
    lenient_strings: bool  # v1: 'literals' over several lines, control characters in them, half surrogates
    leading_zeros: bool  # v1 takes 07 for 7, and no more than two digits of it
    dates_crash: bool  # v2 before 2.3 panics on a date where a string or number belongs
    reads_parent_for_embedded: bool  # v1 looks for the keys of an absent embedded struct in the table around it
    sets_dotted_apart: bool  # a dotted key may only extend tables that dotted keys have made: v2.4
    wide_offsets: bool  # an offset of a day or more: built with a Go before 1.20
    token_errors_crash: bool  # v1 before 1.9.5 panics on a token that it does not expect
    locates_structure: bool  # whether a message about a table opened twice tells the place
    unclosed_header: str  # what it says when a table header is not closed


GO_TOML_1 = Dialect(
    "go-toml v1",
    major=1,
    skips_bom=True,
    folds_key_case=False,
    replaces_maps=True,
    strict_date_end=True,
    largest=2**64 - 1,
    escapes='btnfr"\\/',
    toml_1_1=False,
    inline_over_lines=True,
    lowercase_dates=False,
    lenient_strings=True,
    leading_zeros=True,
    dates_crash=False,
    reads_parent_for_embedded=True,
    sets_dotted_apart=False,
    wide_offsets=False,
    token_errors_crash=False,
    locates_structure=True,
    unclosed_header="unexpected token unclosed table key, was expecting a table key",
)
GO_TOML_1_4 = replace(GO_TOML_1, name="go-toml v1.9.4", token_errors_crash=True, wide_offsets=True, largest=2**63 - 1)
GO_TOML_2 = Dialect(
    "go-toml v2",
    major=2,
    skips_bom=False,
    folds_key_case=True,
    replaces_maps=False,
    strict_date_end=False,
    largest=2**63 - 1,
    escapes='btnfr"\\e',
    toml_1_1=False,
    inline_over_lines=False,
    lowercase_dates=True,
    lenient_strings=False,
    leading_zeros=False,
    dates_crash=True,
    reads_parent_for_embedded=False,
    sets_dotted_apart=False,
    wide_offsets=False,
    token_errors_crash=False,
    locates_structure=False,
    unclosed_header="toml: expected character ]",
)
GO_TOML_2_3 = replace(GO_TOML_2, name="go-toml v2.3", dates_crash=False)
GO_TOML_2_4 = replace(
    GO_TOML_2_3,
    name="go-toml v2.4",
    escapes='btnfr"\\ex',
    toml_1_1=True,
    inline_over_lines=True,
    sets_dotted_apart=True,
    locates_structure=True,
    unclosed_header="toml: expected ']' to close table name",
)
