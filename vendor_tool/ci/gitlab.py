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
from typing import Any

from vendor_tool.ci import upgrades
from vendor_tool.ci.upgrades import RequestError, Upgrade

SECONDS = 60  # that an answer may take


class GitLab:
    """Merge requests; a list in the job's log."""

    name = "vendor-tool"
    limit = 500_000  # GitLab refuses more than 1,048,576

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.token = variables["VENDOR_TOOL_TOKEN"]
        self.api = f"{variables['CI_API_V4_URL']}/projects/{variables['CI_PROJECT_ID']}/merge_requests"
        self.base = variables["CI_DEFAULT_BRANCH"]
        self.labels = variables.get("VENDOR_TOOL_LABELS", "")
        self.email = f"vendor-tool@noreply.{variables['CI_SERVER_HOST']}"
        # not `origin`, which holds the job's own token and may not be pushed to
        self.remote = f"{variables['CI_PROJECT_URL']}.git"
        login = base64.b64encode(f"oauth2:{self.token}".encode()).decode()
        # by the environment: other users of the machine can read arguments
        number = int(variables.get("GIT_CONFIG_COUNT", "0"))
        self.environment: Mapping[str, str] = {
            "GIT_CONFIG_COUNT": str(number + 1),
            f"GIT_CONFIG_KEY_{number}": f"http.{self.remote}.extraHeader",
            f"GIT_CONFIG_VALUE_{number}": f"Authorization: Basic {login}",
        }

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        text = {"title": ("Draft: " if draft else "") + upgrade.title, "description": body}
        query = urllib.parse.urlencode({"state": "opened", "source_branch": upgrade.branch})
        found = self._ask("GET", f"{self.api}?{query}")
        if found:
            self._ask("PUT", f"{self.api}/{found[0]['iid']}", text)
            return f"`{upgrade.name}`: updated !{found[0]['iid']}"
        where = {"source_branch": upgrade.branch, "target_branch": self.base, "remove_source_branch": True}
        made = self._ask("POST", self.api, {**where, **text, **({"labels": self.labels} if self.labels else {})})
        return f"`{upgrade.name}`: opened {made['web_url']}"

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
            raise RequestError(f"GitLab answered {problem.code} to {method} of a merge request: {said}") from None
        except (OSError, ValueError) as problem:
            raise RequestError(f"GitLab gave no answer to {method} of a merge request: {problem}") from None

    def complain(self, line: str) -> None:
        print(f"error: {line}", file=sys.stderr)

    def end(self, lines: list[str], code: int) -> None:
        print("".join(f"{line}\n" for line in lines), end="")
        if code:
            print(f"error: the job ends with exit code {code}: docs/reference/exit-codes.md", file=sys.stderr)


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
