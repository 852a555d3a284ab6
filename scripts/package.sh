#!/bin/sh
# Builds a static program of this machine's processor, `ackord agent` with its programs for the kernel included, and a
# .deb of it, and looks at both.
#
# Usage: scripts/package.sh [PROFILE]     dist (what is shipped; minutes) or release
#
# Into out/package: ackord, its manual pages and completions, ackord_VERSION_ARCHITECTURE.deb. Static, it
# runs on any Linux of that processor, whatever its C library.
set -eu

profile=${1:-dist}
out=out/package
host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-target}
built=$target/$host/$profile/ackord

# fail WORDS...: says so, and ends.
fail() {
    echo "package: $*" >&2
    exit 1
}

# A package without the agent would look the same until it is asked for, so there is none.
command -v clang >/dev/null 2>&1 || fail "no clang, which the agent is built with: scripts/install.sh package"
flags="${RUSTFLAGS:-} -C target-feature=+crt-static"
# libbpf asks for libelf and zlib. What a static libelf asks for besides (zstd, in newer versions) only pkg-config knows.
libraries=$(pkg-config --static --libs-only-l libelf) || fail "no libelf, which the agent is built with"
for library in $libraries; do
    archive=$(gcc -print-file-name="lib${library#-l}.a")
    [ -e "$archive" ] || fail "no $archive, which the agent is built with: scripts/install.sh package"
    case $library in
    -lelf | -lz) ;;
    *) flags="$flags -C link-arg=$archive" ;;
    esac
done

# A package names the commit that it was built from, and whether files differed from it.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
if commit=$(git describe --always --dirty=-modified --exclude='*' --abbrev=12 2>/dev/null); then
    export ACKORD_VERSION="$version (commit $commit)"
fi

# Named, the host is a target like any other: what runs while building is not static.
RUSTFLAGS=$flags cargo build --profile "$profile" --target "$host" --package ackord-cli --features agent

# A program that needs an interpreter or a library is not static.
headers=$(readelf --program-headers --dynamic "$built")
case $headers in
*INTERP* | *'(NEEDED)'*) fail "$built is not static" ;;
esac

rm -rf "$out"
mkdir -p "$out/completions"
cp "$built" "$out/ackord"
strip "$out/ackord"
"$out/ackord" --version
"$out/ackord" man "$out/man"
for shell in bash zsh fish; do "$out/ackord" completions "$shell" >"$out/completions/$shell"; done
gzip --best --no-name "$out"/man/*.1 "$out"/man/*.5

cargo deb --quiet --package ackord-cli --no-build --no-strip --target "$host" --profile "$profile" --output "$out"
deb=$(ls "$out"/*.deb)
scripts/package-test.sh "$deb"
ls -l "$out/ackord" "$deb"
