# shellcheck shell=sh
# What a guest boots from: a root file system, an initramfs with the modules of its kernel, and what is to be tried.
# Sourced by scripts/other-kernels.sh; `work` is its folder.

# Packages of the root file system besides those that are essential.
ROOT_PACKAGES=systemd,systemd-sysv,dbus,udev,kmod,iproute2,procps,python3,bpftool

# Modules that boot a guest, and those that the daemons and the emulated network use. A missing one is left out: the
# kernel may have it built in, and if not, a check shows it.
BOOT_MODULES="virtio_pci virtio_blk ext4"
MODULES="veth bridge tun dummy sch_netem sch_tbf sch_fq sch_fq_codel sch_ingress cls_bpf act_bpf autofs4 configfs"

# make_root: a Debian 12 with systemd as `$work/root.ext4`.
make_root() {
    [ ! -e "$work/root.ext4" ] || return 0
    echo "other-kernels: makes a root file system" >&2
    rm -rf "$work/root"
    {
        mmdebstrap --variant=minbase --include="$ROOT_PACKAGES" bookworm "$work/root" "$(mirror debian)" &&
            prepare_root "$work/root" &&
            mke2fs -q -t ext4 -d "$work/root" "$work/root.new" 1500M &&
            mv "$work/root.new" "$work/root.ext4"
    } >"$work/root.log" 2>&1
    made=$?
    rm -rf "$work/root"
    return $made
}

# prepare_root FOLDER: it runs the smoke test when it is up, and nothing that waits for a person or a network.
prepare_root() {
    echo guest >"$1/etc/hostname"
    printf '127.0.0.1 localhost guest\n' >"$1/etc/hosts"
    rm -f "$1/etc/machine-id" "$1/etc/systemd/system/getty.target.wants/"*
    : >"$1/etc/fstab"
    for unit in getty@.service serial-getty@.service systemd-timesyncd.service apt-daily.timer \
        apt-daily-upgrade.timer systemd-networkd-wait-online.service fstrim.timer e2scrub_all.timer; do
        ln -sf /dev/null "$1/etc/systemd/system/$unit"
    done
    mkdir -p "$1/etc/systemd/system/multi-user.target.wants" "$1/etc/systemd/system.conf.d"
    cp "$here/guest/smoke.service" "$1/etc/systemd/system/"
    ln -sf ../smoke.service "$1/etc/systemd/system/multi-user.target.wants/smoke.service"
}

# make_payload DEB: the package, one of a higher version with the same contents, and the smoke test, as a tar for a disk.
make_payload() {
    rm -rf "$work/payload"
    mkdir -p "$work/payload/new"
    cp "$1" "$work/payload/old.deb"
    dpkg-deb -R "$1" "$work/payload/new"
    sed -i 's/^\(Version: .*\)$/\1+1/' "$work/payload/new/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/payload/new" "$work/payload/new.deb" >/dev/null
    rm -rf "$work/payload/new"
    cp "$here"/guest/*.py "$here"/guest/*.toml "$work/payload/"
    # `make package` has installed clang; without it that check is left out.
    clang -O2 -target bpf -idirafter "/usr/include/$(gcc -print-multiarch 2>/dev/null)" -c "$here/guest/foreign.c" \
        -o "$work/payload/foreign.o" 2>"$work/foreign.log" || rm -f "$work/payload/foreign.o"
    tar -C "$work/payload" -cf "$work/payload.tar" .
    # A disk is of whole sectors.
    truncate -s %512 "$work/payload.tar"
}

# make_initramfs NAME: loads what its disks need, lays its modules into the root file system, and starts systemd.
make_initramfs() {
    folder=$work/$1
    release=$(cat "$folder/release")
    top=$work/initramfs
    rm -rf "$top"
    mkdir -p "$top/bin" "$top/lib/modules/$release"
    cp "$(command -v busybox)" "$top/bin/busybox"
    install -m 755 "$here/init" "$top/init"
    : >"$top/boot-modules"
    for module in $BOOT_MODULES $MODULES; do
        modprobe -d "$PWD/$folder" -S "$release" --show-depends "$module" 2>/dev/null || true
    done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' >"$work/modules.list"
    while read -r file; do
        inside=lib/modules/$release/${file#*/lib/modules/"$release"/}
        mkdir -p "$top/$(dirname "$inside")"
        cp "$file" "$top/$inside"
        case $file in */net/*) ;; *) echo "/$inside" >>"$top/boot-modules" ;; esac
    done <"$work/modules.list"
    cp "$folder/lib/modules/$release"/modules.builtin* "$folder/lib/modules/$release"/modules.order "$top/lib/modules/$release/" 2>/dev/null || true
    depmod -b "$top" "$release"
    (cd "$top" && find . | cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initramfs.gz"
    rm -rf "$top" "$work/modules.list"
}
