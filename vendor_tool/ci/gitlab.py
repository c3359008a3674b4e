"""The scheduled job of the GitLab include: one merge request for each upstream whose files changed, by GitLab's API.

Besides what `upgrades` takes: VENDOR_TOOL_TOKEN, VENDOR_TOOL_LABELS, and GitLab's own variables. Not by push options:
those cannot hold a line's end, and cannot make a draft ready again.
"""

import base64
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from vendor_tool.ci import upgrades
from vendor_tool.ci.branch import Remote
from vendor_tool.ci.plan import Upgrade
from vendor_tool.ci.problem import JobError
from vendor_tool.ci.report import Run

SECONDS: Final = 60  # that an answer may take
PAGE: Final = 100  # merge requests in one answer, GitLab's most
DRAFT, MARK = "Draft: ", " (needs a person)"
"""Begin and end the title of a draft of ours, so that one that a person made a draft stays one."""


class GitLab:
    """Merge requests; a list in the job's log."""

    limit = 500_000  # GitLab refuses more than 1,048,576

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.token = variables["VENDOR_TOOL_TOKEN"]
        self.api = f"{variables['CI_API_V4_URL']}/projects/{variables['CI_PROJECT_ID']}/merge_requests"
        self.project = int(variables["CI_PROJECT_ID"])
        self.base = variables["CI_DEFAULT_BRANCH"]
        self.labels = variables.get("VENDOR_TOOL_LABELS", "")
        # not `origin`, which holds the job's own token and may not be pushed to
        address = f"{variables['CI_PROJECT_URL']}.git"
        login = base64.b64encode(f"oauth2:{self.token}".encode()).decode()
        # by the environment: other users of the machine can read arguments
        number = int(variables.get("GIT_CONFIG_COUNT", "0"))
        environment = {
            "GIT_CONFIG_COUNT": str(number + 1),
            f"GIT_CONFIG_KEY_{number}": f"http.{address}.extraHeader",
            f"GIT_CONFIG_VALUE_{number}": f"Authorization: Basic {login}",
        }
        email = f"vendor-tool@noreply.{variables['CI_SERVER_HOST']}"
        self.remote = Remote("vendor-tool", email, address, environment)

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        known = self._open(upgrade.branch)
        theirs = known is not None and known["draft"] and not known["title"].endswith(MARK)
        heading = (DRAFT if draft or theirs else "") + upgrade.title + (MARK if draft else "")
        text = {"title": heading, "description": body}
        if known is not None:
            self._ask("PUT", f"{self.api}/{known['iid']}", text)
            return f"`{upgrade.name}`: updated !{known['iid']}"
        where = {"source_branch": upgrade.branch, "target_branch": self.base, "remove_source_branch": True}
        made = self._ask("POST", self.api, {**where, **text, **({"labels": self.labels} if self.labels else {})})
        return f"`{upgrade.name}`: opened {made['web_url']}"

    def _open(self, branch: str) -> dict[str, Any] | None:
        """The open merge request of a branch of this project; those of forks are somebody else's."""
        page, full = 1, True
        while full:
            query = {"state": "opened", "source_branch": branch, "per_page": PAGE, "page": page}
            listed = self._ask("GET", f"{self.api}?{urllib.parse.urlencode(query)}")
            for one in listed:
                if one["source_project_id"] == self.project:
                    return dict(one)
            page, full = page + 1, len(listed) == PAGE
        return None

    def _ask(self, method: str, url: str, content: Mapping[str, object] | None = None) -> Any:
        request = urllib.request.Request(url, method=method, headers={"PRIVATE-TOKEN": self.token})
        if content is not None:
            request.data = json.dumps(content).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            said = problem.read(500).decode("utf-8", "replace")
            raise JobError(f"GitLab answered {problem.code} to {method} of a merge request: {said}") from None
        except (OSError, ValueError) as problem:
            raise JobError(f"GitLab gave no answer to {method} of a merge request: {problem}") from None

    def complain(self, line: str) -> None:
        print(f"error: {line}", file=sys.stderr)

    def end(self, lines: list[str], found: Run | None, code: int) -> None:  # noqa: ARG002 - another job shows what was found
        print("".join(f"{line}\n" for line in lines), end="")
        if code:
            print(
                f"error: the job ends with exit code {code}: docs/reference/ci.md tells what it means", file=sys.stderr
            )


def main() -> int:
    """Open or update the merge requests; 2 where no token was given."""
    if not os.environ.get("VENDOR_TOOL_TOKEN"):
        print(
            "error: `VENDOR_TOOL_TOKEN` is not set\n\nhint: make a project access token with the scopes `api` and "
            "`write_repository`, and give it to the job as a masked variable of that name",
            file=sys.stderr,
        )
        return 2
    return upgrades.run(GitLab(os.environ))


if __name__ == "__main__":
    sys.exit(main())
