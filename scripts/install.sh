#!/bin/sh
# Installs what is missing for a purpose, and nothing else. Quick when all is there.
#
# Usage: scripts/install.sh build|test|agent|check|cost|python|docs|fuzz|kernel|package|other-kernels|ui|bench-peers
#
# build        a Rust toolchain and a linker: without them it fails
# test         cargo-nextest, and tools that some tests use; without these those tests say SKIPPED
# agent        clang and libelf for the agent's programs in the kernel: without them it fails; servers and tools that
#              its tests use
# check        cargo-deny
# cost         valgrind
# python       Python with virtual environments: without them it fails
# docs         Python with virtual environments, and git: without them it fails
# fuzz         cargo-fuzz and a C++ compiler
# kernel       what a Linux kernel is built with, and word of its source (VERSION=6.12): without them it fails
# package      cargo-deb, what the agent's programs in the kernel are built with, all of it static, and what looks at a
#              program and a package: without them it fails
# other-kernels qemu, and what makes a root file system: without them it fails
# ui           Node and npm: without them it fails; a browser for the tests of interactive reports
# bench-peers  ns-2, ns-3 and a C++ compiler: without them it fails
#
# Works as root or with sudo. Where neither is at hand it says what to install.
set -eu

purpose=${1:-}
missing=""
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

# need COMMAND PACKAGE: notes PACKAGE if COMMAND is not there.
need() {
    command -v "$1" >/dev/null 2>&1 && return
    # Administrators' tools are often outside a user's path.
    [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ] || missing="$missing $2"
}

# Installs the packages noted as missing; says why if it cannot, and fails.
install_missing() {
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "install: please install (Debian's names):$missing" >&2
        return 1
    fi
    find_root || {
        echo "install: not root and no sudo; please run: apt-get install$missing" >&2
        return 1
    }
    echo "install:$missing" >&2
    # shellcheck disable=SC2086 # a list of words
    set -- install -y --no-install-recommends $missing
    # The lists of packages may be missing or old.
    apt "$@" || { apt update && apt "$@"; } || {
        echo "$said" >&2
        echo "install: apt-get could not install$missing" >&2
        return 1
    }
}

# Finds out how to become root: `as_root`. Fails where there is no way.
find_root() {
    if [ "$(id -u)" -eq 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root="sudo"
    else
        return 1
    fi
}

# Fetches the lists of packages, where that may be done; whoever needs them says so otherwise.
update_lists() {
    find_root || return 0
    echo "install: apt-get update" >&2
    apt update || echo "$said" >&2
}

# apt WORDS...: apt-get with these words, as root; `said` is what it said. Waits for ten minutes at most
# while somebody else has one of its locks. Its own DPkg::Lock::Timeout is for one of the three only.
apt() {
    waited=0
    until said=$($as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq "$@" 2>&1); do
        case $said in
        *"Could not get lock"*) ;;
        *) return 1 ;;
        esac
        [ "$waited" -lt 600 ] || return 1
        [ $((waited % 30)) -ne 0 ] ||
            echo "install: waits: $(echo "$said" | sed -n 's/^E: \(Could not get lock.*\)/\1/p')" >&2
        waited=$((waited + 2))
        sleep 2
    done
}

need_rust() {
    command -v cargo >/dev/null 2>&1 && return 0
    need curl curl
    install_missing
    missing=""
    echo "install: Rust, with rustup from https://rustup.rs, under $HOME/.cargo" >&2
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
        sh -s -- -y -q --profile minimal --default-toolchain none --no-modify-path
    command -v cargo >/dev/null 2>&1 || {
        echo "install: no Rust toolchain; see https://rustup.rs" >&2
        return 1
    }
}

# Notes what makes virtual environments of Python.
need_venv() {
    need python3 python3
    # Debian has it in a package of its own.
    python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
}

# need_cargo TOOL VERSION [FLAG...]: a command of cargo, compiled once for a minute or some.
need_cargo() {
    tool=$1
    version=$2
    shift 2
    cargo "$tool" --version >/dev/null 2>&1 && return
    echo "install: cargo-$tool (compiles for some minutes, once)" >&2
    # Not optimised: these tools start others and wait, and compile in half the time.
    cargo install --quiet --debug --locked "cargo-$tool" --version "=$version" "$@"
}

# Notes what the agent's programs in the kernel are built with.
need_for_bpf() {
    need make make
    need pkg-config pkg-config
    need clang clang
    [ -e /usr/include/libelf.h ] || missing="$missing libelf-dev"
    [ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
    [ -e /usr/include/linux/bpf.h ] || missing="$missing linux-libc-dev"
}

# need_static LIBRARY PACKAGE: notes PACKAGE if the linker has no static LIBRARY.
need_static() {
    case $(gcc -print-file-name="lib$1.a" 2>/dev/null) in
    */*) ;;
    *) missing="$missing $2" ;;
    esac
}

case $purpose in
build)
    need_rust
    need cc gcc
    install_missing
    ;;
test)
    need cc gcc
    need tshark tshark
    need capinfos wireshark-common
    need curl curl
    need iperf3 iperf3
    need ip iproute2
    need tcpdump tcpdump
    need ping iputils-ping
    need python3 python3
    need ns ns2
    need busybox busybox
    need shellcheck shellcheck
    need zsh zsh
    need fish fish
    need man man-db
    need systemd-analyze systemd
    install_missing || echo "install: tests that need these tools will say SKIPPED" >&2
    need_cargo nextest 0.9.151 --no-default-features --features default-no-update
    ;;
agent)
    need_rust
    need cc gcc
    need_for_bpf
    install_missing
    missing=""
    need python3 python3
    need nsenter util-linux
    need ip iproute2
    need redis-server redis-server
    [ -e /usr/lib/postgresql ] || missing="$missing postgresql"
    need rsync rsync
    need curl curl
    need pip3 python3-pip
    install_missing || echo "install: tests that need these tools will say SKIPPED" >&2
    # The schemas of Kubernetes' API, for the manifest. A distribution's Python may want to be left alone.
    command -v kubernetes-validate >/dev/null 2>&1 || pip3 install --quiet kubernetes-validate==1.37.0 2>/dev/null ||
        pip3 install --quiet --break-system-packages kubernetes-validate==1.37.0 ||
        echo "install: the check of the Kubernetes manifest will say SKIPPED" >&2
    ;;
check)
    need_rust
    need git git
    install_missing
    need_cargo deny 0.20.2
    ;;
cost)
    need valgrind valgrind
    install_missing
    ;;
python)
    need_rust
    need cc gcc
    need_venv
    install_missing
    ;;
docs)
    need git git
    need_venv
    install_missing
    ;;
fuzz)
    need_rust
    need c++ g++
    install_missing
    need_cargo fuzz 0.13.2
    ;;
kernel)
    # crates/uml/src/kernels/tools.rs has the same list.
    need make make
    need gcc gcc
    need ld binutils
    need flex flex
    need bison bison
    need bc bc
    need tar tar
    need xz xz-utils
    need find findutils
    need awk mawk
    need_static c libc6-dev
    install_missing
    # The source itself is fetched by `ackord kernel build`, if apt has heard of it.
    source=linux-source-${VERSION:-6.12}
    if command -v apt-cache >/dev/null 2>&1 && [ ! -e "/usr/src/$source.tar.xz" ]; then
        apt-cache show "$source" >/dev/null 2>&1 || update_lists
    fi
    ;;
package)
    need_rust
    need cc gcc
    need readelf binutils
    need dpkg dpkg
    need_for_bpf
    need_static c libc6-dev
    need_static elf libelf-dev
    need_static z zlib1g-dev
    install_missing
    need_cargo deb 3.8.0
    ;;
other-kernels)
    need qemu-system-x86_64 qemu-system-x86
    need qemu-img qemu-utils
    need mmdebstrap mmdebstrap
    # Where Ubuntu's packages are.
    need debootstrap debootstrap
    need mke2fs e2fsprogs
    need cpio cpio
    need busybox busybox-static
    need depmod kmod
    need xz xz-utils
    need zstd zstd
    need dpkg-deb dpkg
    need python3 python3
    install_missing
    ;;
ui)
    # A Node that did not come from Debian has its own npm.
    need node nodejs
    need npm npm
    install_missing
    missing=""
    need chromium chromium
    install_missing || echo "install: tests in a browser will say SKIPPED" >&2
    ;;
bench-peers)
    need python3 python3
    need g++ g++
    need ns ns2
    need ns3++ ns3
    [ -e /usr/include/ns3/core-module.h ] || missing="$missing libns3-dev"
    install_missing
    ;;
*)
    echo "usage: $0 build|test|agent|check|cost|python|docs|fuzz|kernel|package|other-kernels|ui|bench-peers" >&2
    exit 2
    ;;
esac
