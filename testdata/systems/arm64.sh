#!/bin/sh
# Runs the tests of the arm64 build by QEMU's user emulation, on Debian or Ubuntu: those of all packages but cmd, or of
# those that are named. Run by make test-arm64. PRoot lets programs that are started run by QEMU too, without rights.
set -eu
. testdata/systems/common.sh

install qemu-aarch64-static qemu-user-static
install proot proot

export GOOS=linux GOARCH=arm64 CGO_ENABLED=0
# The scripts of cmd start thousands of processes; PRoot does not find all files for them, and stops some for ever.
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(packages | grep -v '^toolx/cmd$')
# PRoot waits for whatever a test that timed out (15 minutes) has left running.
run_tests "$PWD/bin/arm64" $here/arm64-skipped.txt "" "timeout -k 10s 16m proot -q qemu-aarch64-static" "$@"
