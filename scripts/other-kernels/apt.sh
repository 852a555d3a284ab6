# shellcheck shell=sh disable=SC2154,SC2034 # the caller's variables
# Kernels of other suites by apt, with lists, status and keys of their own: nothing of this machine's apt is changed.
# Sourced by scripts/other-kernels.sh; `work` is its folder.

# mirror DISTRIBUTION: where its packages are. $DEBIAN_MIRROR and $UBUNTU_MIRROR decide, then this machine's apt, then
# what debootstrap knows.
mirror() {
    case $1 in
    debian) own=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)} ;;
    debian-security) own=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian-Security' 2>/dev/null | head -n 1) ;;
    ubuntu) own=${UBUNTU_MIRROR:-$(sed -n 's|.*default_mirror \(.*//archive\..*\)|\1|p' /usr/share/debootstrap/scripts/jammy | head -n 1)} ;;
    esac
    echo "${own%/}"
}

# keys DISTRIBUTION: the keyring that its packages are signed with. Debian 12 has none of Ubuntu's: Debian 13's package.
keys() {
    case $1 in
    debian) echo /usr/share/keyrings/debian-archive-keyring.gpg ;;
    ubuntu)
        if [ ! -e "$work/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" ]; then
            suite debian:trixie >&2 && (cd "$work" && in_suite apt-get download ubuntu-keyring) >&2
            dpkg-deb -x "$work"/ubuntu-keyring_*.deb "$work/keyring"
        fi
        echo "$PWD/$work/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg"
        ;;
    esac
}

# suite DISTRIBUTION:SUITE: makes it the one of `in_suite`, with fresh lists.
suite() {
    distribution=${1%%:*}
    signed=$(keys "$distribution")
    state=$PWD/$work/apt/${1#*:}
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    case $1 in
    debian:*-security) from=$(mirror debian-security) ;;
    *) from=$(mirror "$distribution") ;;
    esac
    echo "deb [signed-by=$signed] $from ${1#*:} main" >"$state/sources.list"
    in_suite apt-get -qq update
}

# in_suite COMMAND WORDS...: an apt command that knows this suite only.
in_suite() {
    command=$1
    shift
    "$command" -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
        -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# get_kernel NAME SUITE PATTERN: unpacks the newest such kernel, `$work/NAME`.
get_kernel() {
    folder=$work/$1
    [ ! -e "$folder/release" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder/debs"
    fetch_kernel "$@" >"$work/$1.log" 2>&1
}

fetch_kernel() {
    suite "$2" || return 1
    package=$(in_suite apt-cache search --names-only "^$3\$" | awk '{print $1}' | sort -V | tail -n 1)
    [ -n "$package" ] || {
        echo "$2 has no $3"
        return 1
    }
    release=${package#linux-image-}
    # Ubuntu's modules are in a package of their own.
    modules=$(in_suite apt-cache search --names-only "^linux-modules-$release\$" | awk '{print $1}')
    # shellcheck disable=SC2086 # none, or one
    (cd "$folder/debs" && in_suite apt-get download "$package" $modules) || return 1
    for one in "$folder"/debs/*.deb; do dpkg-deb -x "$one" "$folder" || return 1; done
    in_suite apt-cache show "$package" | awk '$1 == "Version:" {print $2; exit}' >"$folder/version"
    rm -rf "$folder/debs"
    depmod -b "$folder" "$release"
    echo "$release" >"$folder/release"
}
