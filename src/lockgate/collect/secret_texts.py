"""What secrets look like in text: a row a kind. They stay out of bundles; a false alarm costs a word, a miss more.

A row matches the whole secret, or its group `secret` where the words around it should stay readable.
Sources: the token formats that the services document (GitHub, GitLab, Slack, Google, Stripe, npm, PyPI, Hugging Face,
NVIDIA NGC, AWS, Azure), RFC 7468 (PEM), RFC 7519 (JWT), RFC 7617 (basic authentication).
"""

import re
from typing import Final

_NAMED = (
    r"pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|token|api[_-]?key|credentials?|identitytoken|auth|sig"
    r"|(?:access|account|private|license|encryption|signing)[_-]?key|client[_-]?(?:secret|key(?:-data)?|certificate-data)"
    r"|connection[_-]?string|cookie|session[_-]?id"
)
# What may stand before such a name in the same word: `registry_`, `db`.
_BEFORE = r"(?<![A-Za-z0-9])[A-Za-z0-9_-]{0,60}?"
_FEW = "{0,60}"
# Quoted, quoted inside a JSON string (`\\"`), or bare up to what ends a word.
_VALUE = r"(?P<secret>\"(?:[^\"\n\\]|\\.)*\"|'[^'\n]*'|\\+\"(?:[^\"\n\\]|\\+[^\"\\])*|(?:[^\s\"'\\]|\\(?![nrt\"]))+)"

KINDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("pem", re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)),
    ("jwt", re.compile(r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?")),
    ("url-password", re.compile(r"(?<=://)(?P<secret>[^\s/@:\"']*:[^\s/@\"']+)(?=@)")),
    ("authorization", re.compile(r"(?i)\b(?:bearer|basic|digest|negotiate)\s+(?P<secret>[A-Za-z0-9+/=._~-]{8,})")),
    ("github", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("gitlab", re.compile(r"\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{16,}")),
    ("slack", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/\S+")),
    ("google", re.compile(r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}")),
    ("aws", re.compile(r"\b(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}\b")),
    ("stripe", re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("model-hub", re.compile(r"\b(?:hf_[A-Za-z0-9]{20,}|nvapi-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9_-]{20,})")),
    ("package-index", re.compile(r"\b(?:npm_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{20,})")),
    ("vault", re.compile(r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}|\bs\.[A-Za-z0-9]{24}\b")),
    ("ssh-key", re.compile(r"\bssh-(?:rsa|ed25519|dss)\s+(?P<secret>[A-Za-z0-9+/=]{20,})")),
    ("bootstrap-token", re.compile(r"(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])")),
    ("named", re.compile(rf"(?i){_BEFORE}(?:{_NAMED})\\*[\"']?\s*[:=]\s*{_VALUE}")),
    ("flag", re.compile(rf"(?i)--?[a-z0-9-]{_FEW}?(?:{_NAMED})[= ]\s*{_VALUE}")),
    # Long, of mixed case and digits: what no name, path, version or hexadecimal digest is.
    (
        "random",
        re.compile(
            r"(?<![\w/:@.-])(?=[\w+/=-]{0,60}[a-z])(?=[\w+/=-]{0,60}[A-Z])(?=[\w+/=-]{0,60}\d)"
            r"[A-Za-z0-9+/=_]{28,600}(?![\w/.-])"
        ),
    ),
)
ADDRESS: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
# Keys of objects whose value is secret whatever it looks like.
SECRET_KEY: Final = re.compile(rf"(?i)^(?:.*[_.-])?(?:{_NAMED})$")
