# Diagnoses servers, with a report for code scanning in toolx.sarif.
. "$(dirname "$0")/common.sh"

text=$RUNNER_TEMP/toolx-doctor.txt
code=0
# shellcheck disable=SC2086 # names of servers
toolx doctor $servers --report "sarif=$RUNNER_TEMP/toolx.sarif" --report "text=$text" --fail-on "$TOOLX_ACTION_FAIL_ON" \
  ${TOOLX_ACTION_BASELINE:+--baseline "$TOOLX_ACTION_BASELINE"} || code=$?
[ ! -s "$text" ] || summarize 'toolx doctor' "$text"
exit "$code"
