# What windows.sh, arm64.sh and make release-check share. All run in the repository's root.

here=testdata/systems

# as_root runs a command as root.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install installs Debian's packages where a program is missing.
install() { # PROGRAM PACKAGE…
  command -v "$1" >/dev/null && return
  shift
  echo "installing $*"
  as_root apt-get update -qq
  as_root apt-get install -qq --no-install-recommends "$@" >/dev/null
}

# packages lists all packages that have tests for the system of GOOS and GOARCH, but those about this machine.
packages() {
  go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v -E '^toolx/(bench|release)(/|$)'
}

# run runs the tests of a package that match a pattern, as run_tests has set up.
run() { # NAME PATTERN
  # shellcheck disable=SC2086 # a runner is several words
  (cd "./$1" && nice $runner "$binary" -test.short -test.v -test.timeout 30m ${testflags-} -test.run "$2" -test.skip "${skipped:-^\$}") \
    2>&1 </dev/null
}

# run_tests builds the tests of packages, runs them by a program, one package after the other, and fails where one does.
# GOOS and GOARCH say for which system; what a file lists as "PACKAGE TEST REASON" is printed and skipped.
run_tests() { # FOLDER SKIPPED BUILDFLAGS RUNNER PACKAGE…
  made=$1 list=$2 flags=$3 runner=$4
  shift 4
  failed=
  for package in "$@"; do
    name=${package#toolx/}
    binary=$made/$(echo "$name" | tr / -).exe
    # shellcheck disable=SC2086 # flags are several words
    nice go test -p 1 $flags -c -o "$binary" "./$name"
    awk -v package="$name" '$1 == package { print "skipped:", $0 }' "$list"
    skipped=$(awk -v package="$name" '$1 == package {
      name = $2; gsub("/", "$/^", name); printf "%s^%s$", n++ ? "|" : "", name }' "$list")
    begin=$(date +%s) tests=
    # The other tests of cmd start thousands of programs, which is slow where they are emulated.
    [ "$name" != cmd ] || tests='^TestScript$'
    run "$name" "$tests" >"$binary.log" && { echo "ok      $package $(($(date +%s) - begin)) s"; continue; }
    # Emulators lose a process now and then: what failed is run again by itself, up to three times.
    log=$binary.log
    for try in 1 2 3; do
      again=$(sed -n 's/^--- FAIL: \([^ ]*\).*/\1/p' "$log" | paste -s -d '|')
      [ -z "$again" ] || tests="^($again)\$"
      echo "again:  $package ${again:-all of it}: $log"
      grep -E '^ *--- FAIL|^panic|^fatal|_test\.go:[0-9]+:|running tests|^\tTest' "$log" | cut -c 1-400 | head -n 60
      log=$binary.again-$try.log
      run "$name" "$tests" >"$log" && { echo "ok      $package, in run $((try + 1))"; continue 2; }
    done
    failed="$failed $package"
    echo "FAILED  $package: $log"
  done
  [ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
}
