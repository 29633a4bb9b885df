# What the steps share. Read by them, not run.
set -euf

# The names of servers, as arguments.
servers=$TOOLX_ACTION_SERVERS
for name in $servers; do
  case $name in
  -*) echo "::error::$name is not a server"; exit 2 ;;
  esac
done

# summarize adds a file to the summary of the job, as a block of code: each line is indented, so none can end the block.
summarize() {
  {
    printf '### %s\n\n' "$1"
    sed 's/^/    /' "$2"
    echo
  } >>"$GITHUB_STEP_SUMMARY"
}
