# Installs toolx for the other steps of action.yml.
set -eu

case $TOOLX_ACTION_VERSION in
installed)
  toolx version
  exit ;;
source | latest | v[0-9]*) ;;
*)
  echo "::error::version must be a tag such as v1.2.3, latest, source or installed"
  exit 2 ;;
esac

bin=$RUNNER_TEMP/toolx-bin
mkdir -p "$bin"
if [ "$TOOLX_ACTION_VERSION" = source ]; then
  cd "$GITHUB_ACTION_PATH"
  CGO_ENABLED=0 go build -o "$bin/" .
else
  case $RUNNER_OS in
  Linux) system=linux archive=tar.gz ;;
  macOS) system=darwin archive=tar.gz ;;
  Windows) system=windows archive=zip ;;
  *) echo "::error::no release for $RUNNER_OS"; exit 1 ;;
  esac
  case $RUNNER_ARCH in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) echo "::error::no release for $RUNNER_ARCH"; exit 1 ;;
  esac
  folder=$(mktemp -d)
  cd "$folder"
  tag=$TOOLX_ACTION_VERSION
  [ "$tag" != latest ] || tag=
  gh release download ${tag:+"$tag"} --repo "$TOOLX_ACTION_REPOSITORY" \
    --pattern "toolx_*_${system}_$arch.$archive" --pattern checksums.txt
  # Only the downloaded archive is checked; without its line in checksums.txt, grep fails.
  file=$(echo toolx_*)
  if command -v sha256sum >/dev/null; then check='sha256sum -c'; else check='shasum -a 256 -c'; fi
  grep "[ *]$file\$" checksums.txt | $check
  if [ "$archive" = zip ]; then unzip -q "$file"; else tar -xzf "$file"; fi
  mv toolx_*/toolx* "$bin/"
fi

"$bin/toolx" version
if [ "$RUNNER_OS" = Windows ]; then bin=$(cygpath -w "$bin"); fi
echo "$bin" >>"$GITHUB_PATH"
