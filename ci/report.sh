#!/usr/bin/env bash
# One run of a command that lists findings, shown three ways: code scanning, annotations, job summary.
# Its exit code becomes the output `code`: the upload comes first, a later step fails the job.
set -uo pipefail

sarif=.vendor-tool.sarif
json=$RUNNER_TEMP/vendor-tool.json
read -ra arguments <<< "${ARGUMENTS:-}"

rm -f "$sarif" "$json"
vendor-tool --lock "$LOCK" "$COMMAND" ${arguments[@]+"${arguments[@]}"} \
  --format sarif --output "$sarif" --also json:"$json"
code=$?
if [ "$code" -gt 1 ]; then
  echo "::error title=vendor-tool::\`vendor-tool $COMMAND\` stopped with exit code $code, see the log above"
else
  python3 -I -m vendor_tool.ci.report "$json" || code=$?
fi
echo "code=$code" >> "$GITHUB_OUTPUT"
