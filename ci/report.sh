#!/usr/bin/env bash
# One run of a command that lists findings, shown three ways: code scanning, annotations, job summary.
# Its exit code becomes the output `code`: the upload comes first, a later step fails the job.
set -uo pipefail

sarif=.vendor-tool.sarif
read -ra arguments <<< "${ARGUMENTS:-}"
run() { vendor-tool --lock "$LOCK" "$COMMAND" ${arguments[@]+"${arguments[@]}"} "$@"; }

rm -f "$sarif"
run --format sarif --output "$sarif"
code=$?
if [ "$code" -le 1 ]; then
  run --format github
  run --format markdown >> "$GITHUB_STEP_SUMMARY"
else
  echo "::error title=vendor-tool::\`vendor-tool $COMMAND\` stopped with exit code $code, see the log above"
fi
echo "code=$code" >> "$GITHUB_OUTPUT"
