"""What upstreams did since the pins: pure functions over listings, refs, history and package files."""

from collections.abc import Mapping
from typing import Final

from vendor_tool.findings import Level, RuleInfo


def _rule(rule: str, level: Level, title: str, help_: str) -> tuple[str, RuleInfo]:
    return rule, RuleInfo(rule, level, title, help_)


RULES: Final[Mapping[str, RuleInfo]] = dict(
    (
        _rule(
            "upstream-changed",
            "warning",
            "our files changed upstream",
            "Files that the lock maps differ between the pin and the newest revision. `vendor-tool sync NAME@REV` "
            "upgrades, with `--dry-run` it says what would happen.",
        ),
        _rule(
            "upstream-moved",
            "note",
            "only the repository moved",
            "The upstream has newer revisions, and none of the files that the lock maps changed in them.",
        ),
        _rule(
            "upstream-file-changed",
            "note",
            "a file of ours changed upstream",
            "Names the file, the commits that touch it and what they changed.",
        ),
        _rule(
            "upstream-file-renamed",
            "warning",
            "a file of ours was renamed upstream",
            "Its content stands at another path. An upgrade needs the new path in `files:`, where no pattern takes it.",
        ),
        _rule(
            "upstream-file-new",
            "note",
            "a file is new where ours are",
            "A pattern of `files:` matches it, and an upgrade takes it along. Or it is new in a folder of which "
            "`files:` lists every file, and no upgrade takes it unasked.",
        ),
        _rule(
            "upstream-file-gone",
            "warning",
            "a file of ours is gone upstream",
            "It was deleted, or split, or renamed and changed. An upgrade stops there until `files:` says what to do.",
        ),
        _rule(
            "upstream-licence-changed",
            "warning",
            "the upstream's licence file changed",
            "What was allowed at the pin may not be at the newest revision. `vendor-tool audit` tells the licences.",
        ),
        _rule(
            "upstream-notice-changed",
            "warning",
            "the upstream's NOTICE changed",
            "An Apache-2.0 NOTICE has to be passed on; an upgrade takes the new one along.",
        ),
        _rule(
            "upstream-unreachable",
            "error",
            "the upstream gave no answer",
            "It is gone, refuses access or cannot be reached: what it did since the pin is not known.",
        ),
        _rule(
            "repository-renamed",
            "warning",
            "the repository has another address",
            "The server sends on to the new address for now. Write that under `url:`, so that nobody can take the old "
            "name over.",
        ),
        _rule(
            "repository-mirror",
            "warning",
            "a mirror answered, the upstream did not",
            "What is said of the upstream is what the mirror knows of it.",
        ),
        _rule(
            "branch-gone",
            "warning",
            "the followed branch is gone",
            "Nothing is followed in its place. Name another one under `branch:`, or compare once with "
            "`vendor-tool outdated NAME@REV`.",
        ),
        _rule(
            "pin-unclear",
            "note",
            "what holds the pin is not known",
            "It is not on the followed branch, and the upstream's other refs could not be searched.",
        ),
        _rule(
            "pin-off-branch",
            "note",
            "the pin is not on the followed branch",
            "The commit is on another branch or a tag alone. It stays as long as they do.",
        ),
        _rule(
            "pin-on-request",
            "warning",
            "the pin hangs off a pull request alone",
            "No branch or tag holds the commit. Pin one that was merged, or keep a mirror under `mirrors:`.",
        ),
        _rule(
            "pin-unreachable",
            "warning",
            "nothing upstream holds the pin",
            "History was rewritten or the branch deleted. Pin another commit, or keep a mirror under `mirrors:`.",
        ),
        _rule(
            "tag-moved",
            "warning",
            "a tag was moved",
            "The tag stands for another commit than when it was pinned. The lock holds the commit, so bytes stay.",
        ),
        _rule(
            "sibling-differs",
            "note",
            "two copies of one file differ",
            "One may hold a fix that the other lacks. `vendor-tool outdated --verbose` shows the hunks.",
        ),
        _rule(
            "sibling-lacks",
            "warning",
            "a copy lacks what its sibling's upstream changed",
            "The change may be a fix. Take it as a patch, or ask the copy's own upstream for it. Where layout or "
            "comments alone changed, it is a note.",
        ),
        _rule(
            "sibling-unclear",
            "note",
            "copies of one file could not be compared",
            "An upstream that has a copy, or the history of one, could not be read: what a copy lacks is not known.",
        ),
        _rule(
            "import-gone",
            "warning",
            "a run-time import is gone",
            "The name is not in the newest revision, or not in the installed package: the import fails at run time.",
        ),
        _rule(
            "import-changed",
            "note",
            "a run-time import changed",
            "The name is defined otherwise than at the pin, in the newest revision or in the installed package.",
        ),
        _rule(
            "import-unclear",
            "note",
            "a run-time import could not be looked at",
            "Its source at the pin is not to be had, or no installed package accounts for the module that is there.",
        ),
        _rule(
            "known-bad-pin",
            "error",
            "the pin is known to be bad",
            "The pin lies in a range of commits under `known-bad:`. The note there says why.",
        ),
        _rule(
            "known-bad-unclear",
            "note",
            "a pin may be known to be bad",
            "The history at hand does not tell whether the pin lies in a range under `known-bad:`.",
        ),
        _rule(
            "known-bad-version",
            "error",
            "an installed version is known to be bad",
            "This environment holds versions that a note under `known-bad:` warns of.",
        ),
        _rule(
            "known-bad-allowed",
            "warning",
            "`requires:` lets a bad version in",
            "The range under `requires:` overlaps one under `known-bad:`. Narrow it.",
        ),
    )
)
