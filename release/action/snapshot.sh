# Compares servers with a snapshot, and adds the changes to the summary of the job.
. "$(dirname "$0")/common.sh"

changes=$RUNNER_TEMP/toolx-snapshot.md
code=0
# shellcheck disable=SC2086 # names of servers
toolx snapshot $servers --check "$TOOLX_ACTION_SNAPSHOT" --fail-on "$TOOLX_ACTION_FAIL_ON" --markdown >"$changes" || code=$?
if [ -s "$changes" ]; then
  echo "compared=true" >>"$GITHUB_OUTPUT"
  cat "$changes"
  { printf '## toolx snapshot\n\n'; cat "$changes"; } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
