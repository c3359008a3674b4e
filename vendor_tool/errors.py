"""What can go wrong, sorted by who must act; one exit code for each kind."""

from __future__ import annotations

from enum import IntEnum

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would be a third of what `--help` costs
    from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of the program; `docs/reference/exit-codes.md` explains each."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    UPSTREAM = 3
    CONTENT = 4
    CONFLICT = 5
    PARITY_FAILED = 6
    PARITY_NOT_RUN = 7
    BUG = 70
    INTERRUPTED = 130


class VendorError(Exception):
    """A failure that the user is told about: `message` says what and where, `hint` what to do next.

    Never raised itself: raise the subclass whose exit code fits.
    """

    code: ClassVar[ExitCode]

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(VendorError):
    """The command line, the lockfile or a patch file is wrong: the user edits it."""

    code = ExitCode.USAGE


class UpstreamError(VendorError):
    """The upstream cannot be reached, or does not hold what the lock names."""

    code = ExitCode.UPSTREAM


class GoneError(UpstreamError):
    """Every address of the upstream answered, and none holds what the lock names (any more)."""


class ContentError(VendorError):
    """Bytes are not the ones that were locked, or local edits would be overwritten."""

    code = ExitCode.CONTENT


class ConflictError(VendorError):
    """A patch or a merge needs a person."""

    code = ExitCode.CONFLICT


class ParityError(VendorError):
    """A kernel does not compute what its reference computes."""

    code = ExitCode.PARITY_FAILED


class ParityNotRun(VendorError):
    """Parity was required, and there is no GPU or no runtime to run it on."""

    code = ExitCode.PARITY_NOT_RUN
