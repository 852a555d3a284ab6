#!/bin/sh
# Installs a .deb into a folder that serves as a root, looks at what is there, and removes it again.
#
# Usage: scripts/package-test.sh FILE.deb
set -eu

deb=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# fail WORDS...: says so, and ends.
fail() {
    echo "package-test: $*" >&2
    exit 1
}

# This machine's own services are none of the package's business here.
mkdir "$root/nothing"
for name in systemctl deb-systemd-invoke; do ln -s /bin/true "$root/nothing/$name"; done

# in_root WORDS...: dpkg, as if the folder were all there is.
in_root() {
    PATH=$root/nothing:$PATH dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null "$@" >"$root.log" 2>&1 || {
        cat "$root.log" >&2
        fail "dpkg $*"
    }
    rm -f "$root.log"
}

mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
in_root --install "$deb"

for file in usr/bin/ackord usr/lib/systemd/system/ackord-gateway.service \
    usr/share/man/man1/ackord-gateway-run.1.gz usr/share/doc/ackord/gateway.md \
    usr/share/doc/ackord/examples/minimal.toml usr/share/doc/ackord/examples/grafana/ackord-gateway.json \
    usr/share/doc/ackord/copyright usr/share/bash-completion/completions/ackord \
    usr/share/zsh/vendor-completions/_ackord usr/share/fish/vendor_completions.d/ackord.fish; do
    [ -s "$root/$file" ] || [ -s "$root/${file#usr/}" ] || fail "no $file"
done
"$root/usr/bin/ackord" --version >/dev/null || fail "what was installed does not run"
for example in "$root"/usr/share/doc/ackord/examples/*.toml; do
    "$root/usr/bin/ackord" gateway check "$example" >/dev/null 2>&1 || fail "$example is not sound"
done
# Nothing begins by itself.
[ -z "$(find "$root/etc" -name '*ackord-gateway*' 2>/dev/null)" ] || fail "the unit is enabled"

in_root --purge ackord
left=$(find "$root" -iname '*ackord*' ! -path "$root/var/lib/dpkg/*")
[ -z "$left" ] || fail "left behind: $left"

# lintian knows what Debian's own packages have to keep to; errors count.
if command -v lintian >/dev/null 2>&1; then
    # A static program, on purpose, and no Debian changelog.
    lintian --fail-on error --allow-root --suppress-tags \
        statically-linked-binary,shared-library-lacks-prerequisites,empty-field,no-changelog "$deb" || fail lintian
fi
echo "package-test: $(basename "$deb") installs, runs and goes without a trace"
