"""Takes secrets out of what goes into a bundle: env values, credentials in any text, annotations nobody reads.

The same secret becomes the same word (`redacted-3`), so that two places with one value still show it, and the value
cannot be told from the word. Machine identities go too; addresses on request.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from lockgate.collect.secret_texts import ADDRESS, KINDS, SECRET_KEY

_IDENTITIES: Final = frozenset(("machineID", "systemUUID", "bootID"))
# Variables that rules read; everything else of an environment says nothing about GPUs.
_READ_ENV: Final = ("NVIDIA_", "CUDA_", "DP_", "MIG_", "PASS_DEVICE_SPECS", "FAIL_ON_INIT_ERROR", "DEVICE_", "CDI_")
_READ_ANNOTATIONS: Final = ("nvidia.com/", "lockgate.dev/", "nfd.node.kubernetes.io/")
_QUOTES: Final = "\\\"'"
_LINE: Final = 16 * 1024  # characters of a line that are kept: what a person reads, and patterns can afford


class Redactor:
    """Redacts one bundle; `counts` says how much of each kind was taken out.

    Two redactors that work on one bundle number their words apart, by another `word`.
    """

    def __init__(self, *, addresses: bool = False, word: str = "redacted") -> None:
        self._addresses, self._prefix = addresses, word
        self._words: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A text without what looks like a secret; overlong lines are cut."""
        if len(text) > _LINE:
            text = "\n".join(_cut(line) for line in text.split("\n"))
        for kind, pattern in KINDS:
            text = pattern.sub(lambda found, kind=kind: self._replaced(kind, found), text)  # type: ignore[misc]
        if self._addresses:
            text = ADDRESS.sub(lambda found: self._word("address", found[0]), text)
        return text

    def tree(self, value: Any, key: str = "") -> Any:
        """A JSON value without secrets: by its keys, and in every text inside."""
        match value:
            case str():
                return self._of_key(key, value)
            case list() | tuple():
                return self._env(value) if key == "env" else [self.tree(each, key) for each in value]
            case dict():
                kept = _annotations(value) if key == "annotations" else value
                return {name: self.tree(each, name) for name, each in kept.items()}
            case _:
                return value

    def _of_key(self, key: str, value: str) -> str:
        if value and (key in _IDENTITIES or SECRET_KEY.match(key)):
            return self._word("identity" if key in _IDENTITIES else "named", value)
        return self.text(value)

    def _env(self, variables: Any) -> list[Any]:
        return [self._variable(v) if isinstance(v, Mapping) else self.tree(v) for v in variables]

    def _variable(self, variable: Mapping[str, Any]) -> dict[str, Any]:
        name, value = str(variable.get("name", "")), str(variable.get("value", ""))
        if not value:
            return {"name": name}
        read = name.startswith(_READ_ENV) and not SECRET_KEY.match(name)
        return {"name": name, "value": self.text(value) if read else self._word("env", value)}

    def _replaced(self, kind: str, found: Any) -> str:
        if "secret" not in found.re.groupindex:
            return self._word(kind, found[0])
        secret: str = found["secret"]
        if secret.strip(_QUOTES).startswith("redacted-") or secret in ('""', "''"):
            return str(found[0])
        start, end = found.start("secret") - found.start(), found.end("secret") - found.start()
        bare = secret.strip(_QUOTES)
        word = secret.replace(bare, self._word(kind, bare)) if bare else secret
        return f"{found[0][:start]}{word}{found[0][end:]}"

    def _word(self, kind: str, secret: str) -> str:
        self.counts[kind] += 1
        return self._words.setdefault(secret, f"{self._prefix}-{len(self._words) + 1}")


def _annotations(annotations: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in annotations.items() if name.startswith(_READ_ANNOTATIONS)}


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} [cut]"
