"""What keeps a job from handling one upstream."""

from typing import Final

REFUSED: Final = 10
"""Exit code where git or the service refuses something; `vendor-tool` has no such code."""


class JobError(Exception):
    """What went wrong, and the exit code that the job ends with if nothing else did before."""

    def __init__(self, message: str, code: int = REFUSED) -> None:
        super().__init__(message)
        self.code = code
