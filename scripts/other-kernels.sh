#!/bin/sh
# Boots the kernels of distributions in qemu, each with a Debian 12 under systemd, and tries both daemons there.
#
# Usage: scripts/other-kernels.sh [--page FILE] [KERNEL...]    names of scripts/other-kernels/kernels.txt; all by default
#
# Reads out/package/*.deb (`make package`). Works in target/other-kernels, where root file system and kernels are kept
# for the next time. Writes out/other-kernels/KERNEL (results.tsv, the journal, the console) and, with --page, a table of
# all results. Prints SKIPPED without qemu, the package or a network. The guests have no network card; qemu emulates the
# processor where /dev/kvm does not run them. Exits with 1 if a check failed.
set -eu

here=scripts/other-kernels
work=${CARGO_TARGET_DIR:-target}/other-kernels
out=out/other-kernels
page=""
if [ "${1:-}" = --page ]; then
    page=$2
    shift 2
fi

# skip WORDS...: reports why nothing is tried, and ends.
skip() {
    echo "SKIPPED other-kernels: $*"
    exit 0
}

[ "$(uname -m)" = x86_64 ] || skip "the kernels are those of x86_64"
for tool in qemu-system-x86_64 qemu-img mmdebstrap mke2fs cpio busybox depmod xz zstd apt-get dpkg-deb python3; do
    command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/sbin/$tool" ] || skip "no $tool: scripts/install.sh other-kernels"
done
[ "$(id -u)" -eq 0 ] || skip "the root file system is made by root"
deb=$(ls out/package/ackord_*.deb 2>/dev/null | tail -n 1)
[ -n "$deb" ] || skip "no out/package/ackord_*.deb: make package"

PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$work" "$out"
# Of this run, so that several may run at the same time.
image=$work/root.$$.ext4
trap 'rm -f "$image"' EXIT
# shellcheck source=scripts/other-kernels/apt.sh
. "$here/apt.sh"
# shellcheck source=scripts/other-kernels/images.sh
. "$here/images.sh"
# shellcheck source=scripts/other-kernels/boot.sh
. "$here/boot.sh"

make_root || skip "no root file system could be made, see $work/root.log"
install_package "$deb"
names=${*:-$(awk '!/^#/ && NF {print $1}' "$here/kernels.txt")}
failed=0
for name in $names; do
    line=$(awk -v name="$name" '!/^#/ && $1 == name' "$here/kernels.txt")
    [ -n "$line" ] || {
        echo "other-kernels: $here/kernels.txt has no $name" >&2
        exit 2
    }
    # shellcheck disable=SC2086 # NAME SUITE PATTERN
    get_kernel $line || {
        echo "SKIPPED other-kernels: kernel $name could not be fetched, see $work/$name.log"
        continue
    }
    make_initramfs "$name"
    boot "$name" || failed=1
done
# What a run without a kernel leaves out stays as an earlier run measured it.
[ -z "$page" ] || python3 "$here/page.py" "$out" >"$page"
exit $failed
