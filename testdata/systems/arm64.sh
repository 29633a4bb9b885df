#!/bin/sh
# Runs the tests of the arm64 build by QEMU's user emulation, on Debian or Ubuntu: those of all packages, or of those
# that are named. Run by make test-arm64. Needs a kernel that lets QEMU run the programs that tests start
# (binfmt_misc).
set -eu
. testdata/systems/common.sh

install qemu-aarch64-static qemu-user-static

# Where Debian's package has not told the kernel of QEMU, this run does, until its end (binfmt-misc.rst of the kernel's
# documentation). The magic is the head of an ELF file: 64 bits, little endian, aarch64, executable or position-independent.
kernel=/proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
[ -e $kernel/register ] || as_root mount -t binfmt_misc binfmt_misc $kernel
if ! grep -qs 7f454c460201010000000000000000000200b700 $kernel/*; then
  as_root sh -c "printf %s ':toolx-arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):F' >$kernel/register"
  trap 'as_root sh -c "echo -1 >$kernel/toolx-arm64"' EXIT
fi

export GOOS=linux GOARCH=arm64 CGO_ENABLED=0
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(packages)
# QEMU is slow to start and to end programs: where many run at once, time limits are missed.
testflags="-test.parallel 1"
run_tests "$PWD/bin/arm64" $here/arm64-skipped.txt "" "" "$@"
