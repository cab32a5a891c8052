# ruff: noqa: N818 - the errors are named as Kubernetes names them
"""What a call to the API server can end in, each as a type a caller can act on and a text a person can read."""

from typing import Final

import msgspec


class ApiError(Exception):
    """The API server answered with an error; `code` is the HTTP status, `reason` Kubernetes' word for it."""

    def __init__(self, message: str, *, code: int = 0, reason: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.retry_after = retry_after


class Forbidden(ApiError):
    """Authenticated, but RBAC does not allow the call (403)."""


class Unauthorized(ApiError):
    """The credentials were not accepted (401)."""


class NotFound(ApiError):
    """The object does not exist; `unknown_kind` when the server does not know the kind at all (404)."""

    unknown_kind = False


class Conflict(ApiError):
    """Someone else changed the object, owns the field, or created it first (409)."""


class Gone(ApiError):
    """The resource version or list continuation is too old: list again (410)."""


class Invalid(ApiError):
    """The object was refused by validation or admission (400, 422)."""


class TooManyRequests(ApiError):
    """The server asked to come back later and kept asking (429)."""


class Unreachable(Exception):
    """No answer: the server, the network, the credentials plugin or the configuration failed."""


class ConfigError(Unreachable):
    """The kubeconfig cannot be used; a person can mend it."""


class Status(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """metav1.Status, the body of an error."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: "StatusDetails | None" = None


class StatusDetails(msgspec.Struct, frozen=True, rename="camel", gc=False):
    retry_after_seconds: int = 0


_TYPES: Final[dict[int, type[ApiError]]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def parse_status(body: bytes | bytearray) -> Status:
    """Read an error's body; text that is not a Status (a proxy's page, "404 page not found") becomes its message."""
    try:
        return msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:
        return Status(message=body[:300].decode(errors="replace").strip())


def error_of(status: Status, code: int, doing: str, retry_after: float | None = None) -> ApiError:
    """Build the typed error of an answer; `doing` names the call, as in `list pods`."""
    kind = _TYPES.get(code, ApiError)
    text = status.message or status.reason or "no message"
    error = kind(f"{doing}: {text} (HTTP {code})", code=code, reason=status.reason, retry_after=retry_after)
    if isinstance(error, NotFound):
        # The path of an unknown kind is answered by the mux in plain text, a missing object by a Status.
        error.unknown_kind = not status.reason
    return error
