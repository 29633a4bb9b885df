#!/bin/sh
# Prints the modules that toolx links on any system with their licences, as lines of "package,licence", and fails
# where go-licenses finds one that forbids to distribute toolx. Run by make licences, in the repository's root.
set -eu
tool=github.com/google/go-licenses@v1.6.0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# go-licenses reads what is linked on one system. -exec sets that system for its run, not for its build, and GOROOT,
# by which it knows the standard library. It looks for the address of each licence; without network it says so and goes
# on, and nothing here needs it.
licenses() {
  go run -exec "env GOOS=$system GOROOT=$(go env GOROOT)" "$tool" "$@" --ignore toolx 2>>"$folder/log"
}

for system in linux darwin windows; do
  if ! licenses check . --disallowed_types=forbidden,restricted,unknown >&2 ||
    ! licenses report . --template release/licences.tmpl >>"$folder/report"; then
    cat "$folder/log" >&2
    exit 1
  fi
done
grep . "$folder/report" | LC_ALL=C sort -u
