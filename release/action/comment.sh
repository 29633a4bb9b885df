# Writes the changes since the snapshot as one comment on the pull request, or changes the comment of an earlier run.
set -eu

marker='<!-- toolx snapshot -->'
limit=60000 # bytes; a comment has at most 65,536 characters
changes=$RUNNER_TEMP/toolx-snapshot.md
if [ -z "$TOOLX_ACTION_PULL_REQUEST" ]; then
  echo "not a pull request: no comment"
  exit
fi

failed() {
  echo "::warning::the changes were not commented: the token needs the permission pull-requests write"
  exit 0
}

comments=repos/$GITHUB_REPOSITORY/issues/$TOOLX_ACTION_PULL_REQUEST/comments
ids=$(gh api "$comments" --paginate \
  --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id") || failed
id=$(echo "$ids" | head -n 1)
if [ -z "$id" ] && ! grep -q '^```*diff$' "$changes"; then
  exit # there are no changes, and there were none before
fi

body=$RUNNER_TEMP/toolx-comment.md
{
  printf '%s\n## toolx snapshot\n\n' "$marker"
  if [ "$(wc -c <"$changes")" -gt "$limit" ]; then
    printf 'These are the first %s bytes; the summary of the job has all.\n\n' "$limit"
  fi
  head -c "$limit" "$changes"
} >"$body"
if [ -n "$id" ]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$body" >/dev/null || failed
else
  gh api --method POST "$comments" --field "body=@$body" >/dev/null || failed
fi
