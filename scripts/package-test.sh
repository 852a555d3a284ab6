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

mkdir -p "$root/etc" "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
in_root --install "$deb"

program=$root/usr/bin/ackord
doc=$root/usr/share/doc/ackord

for file in usr/bin/ackord usr/share/doc/ackord/copyright usr/share/bash-completion/completions/ackord \
    usr/share/zsh/vendor-completions/_ackord usr/share/fish/vendor_completions.d/ackord.fish \
    usr/share/doc/ackord/examples/minimal.toml usr/share/doc/ackord/examples/agent/minimal.toml \
    usr/share/doc/ackord/examples/kubernetes/ackord-agent.yaml; do
    [ -s "$root/$file" ] || fail "no $file"
done
"$program" --version >/dev/null || fail "what was installed does not run"
if git rev-parse --git-dir >/dev/null 2>&1; then
    "$program" --version | grep -q "(commit " || fail "the version names no commit"
fi
grep -q '^Files: libelf' "$doc/copyright" || fail "copyright says nothing of what is linked in"

for daemon in gateway agent; do
    for file in "usr/lib/systemd/system/ackord-$daemon.service" "usr/share/doc/ackord/$daemon.md" \
        "usr/share/doc/ackord/examples/grafana/ackord-$daemon.json"; do
        [ -s "$root/$file" ] || fail "no $file"
    done
    for page in '' -run -status -stop -check -plan -probe; do
        [ -s "$root/usr/share/man/man1/ackord-$daemon$page.1.gz" ] || fail "no manual page ackord-$daemon$page"
    done
    [ -s "$root/usr/share/man/man5/$daemon.toml.5.gz" ] || fail "no manual page $daemon.toml"
    unit=$root/usr/lib/systemd/system/ackord-$daemon.service
    if command -v systemd-analyze >/dev/null 2>&1; then
        mkdir -p "$root/nothing/verified"
        # The program and the manual are here, and not where this machine would look.
        sed "s|/usr/bin/ackord|$program|; /^Documentation=/d" "$unit" >"$root/nothing/verified/ackord-$daemon.service"
        said=$(systemd-analyze verify "$root/nothing/verified/ackord-$daemon.service" 2>&1) || fail "$daemon: $said"
        [ -z "$said" ] || fail "systemd-analyze: $said"
    fi
    # Nothing begins by itself: no link to a unit in any target, and no note for the next start.
    enabled=$(find "$root/etc" -name "*ackord-$daemon*")
    [ -z "$enabled" ] || fail "ackord-$daemon is enabled: $enabled"
    # An upgrade restarts what runs, and removing stops it: what dpkg asks, cargo-deb has written for each.
    for script in postinst prerm postrm; do
        grep -q "ackord-$daemon.service" "$root/var/lib/dpkg/info/ackord.$script" || fail "$script knows no ackord-$daemon"
    done
done

# sound DAEMON FILE...: its examples are taken.
sound() {
    daemon=$1
    shift
    for example in "$@"; do
        "$program" "$daemon" check "$example" >/dev/null 2>&1 || fail "$example is not sound"
    done
}
sound gateway "$doc"/examples/*.toml
sound agent "$doc"/examples/agent/*.toml

# The agent has its programs for the kernel. What the kernel of a builder lets it do is another question.
probed=$("$program" agent probe 2>&1) || true
case $probed in
*'built without'*) fail "the agent is without its programs for the kernel: $probed" ;;
*BTF*) ;;
*) fail "ackord agent probe: $probed" ;;
esac

# What a daemon has written goes too, once all is to go.
mkdir -p "$root/var/lib/ackord"
echo history >"$root/var/lib/ackord/history.redb"
in_root --remove ackord
[ -s "$root/var/lib/ackord/history.redb" ] || fail "removing takes what daemons have learnt"
rm -rf "$root/nothing/verified"
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
