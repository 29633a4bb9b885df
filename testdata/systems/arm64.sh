#!/bin/sh
# Runs the tests of the arm64 build by QEMU's user emulation, on Debian or Ubuntu: those of all packages, or of those that
# are named. Run by make test-arm64. PRoot lets programs that are started run by QEMU too, without rights.
set -eu
. testdata/systems/common.sh

install qemu-aarch64-static qemu-user-static
install proot proot

export GOOS=linux GOARCH=arm64 CGO_ENABLED=0
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(packages)
run_tests "$PWD/bin/arm64" $here/arm64-skipped.txt "" "proot -q qemu-aarch64-static" "$@"
