# Makes the calls in a file. The log has those whose result is not as expected, and the JUnit file has all.
TOOLX_ACTION_SERVERS=
. "$(dirname "$0")/common.sh"

log=$RUNNER_TEMP/toolx-batch.txt
code=0
toolx call --batch "$TOOLX_ACTION_BATCH" --report "junit=$TOOLX_ACTION_JUNIT" --jq empty 2>"$log" || code=$?
cat "$log" >&2
summarize 'toolx call --batch' "$log"
exit "$code"
