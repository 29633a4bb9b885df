#!/bin/sh
# Makes the snapshot of a release twice, from two clones in folders of different names, in different zones, locales and
# masks, and fails where a file differs. Run by make release-reproducible, in the repository's root; it takes the last
# commit.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build() {
  git clone --quiet . "$folder/$1"
  (cd "$folder/$1" && umask "$2" && TZ=$3 LC_ALL=$4 make --no-print-directory release-snapshot) >"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; exit 1; }
  # The day of the release, in the zone of whoever makes it; and GoReleaser lists architectures in any order.
  find "$folder/$1/dist/release/winget" -name '*.yaml' -exec sed -i '/^ReleaseDate: /d' {} \; -exec sort -o {} {} \;
  # These describe the run: its folders, its environment and how long it took.
  (cd "$folder/$1/dist/release" && find . -type f ! -name artifacts.json ! -name config.yaml ! -name metadata.json \
    -exec sha256sum {} + | LC_ALL=C sort -k 2) >"$folder/$1.sums"
}

build first 022 UTC C
build "in another place" 077 Pacific/Kiritimati C.UTF-8
diff "$folder/first.sums" "$folder/in another place.sums"
echo "$(wc -l <"$folder/first.sums") files are equal"
