# shellcheck shell=sh disable=SC2154,SC2034 # the caller's variables
# What a guest boots from: a root file system, an initramfs with the modules of its kernel, and what is to be tried.
# Sourced by scripts/other-kernels.sh; `work` is its folder.

# Packages of the root file system besides those that are essential.
ROOT_PACKAGES=systemd,systemd-sysv,dbus,udev,kmod,iproute2,procps,python3,bpftool

# Modules that boot a guest, and those that the daemons and the emulated network use. A missing one is left out: the
# kernel may have it built in, and if not, a check shows it.
BOOT_MODULES="virtio_pci virtio_blk ext4"
MODULES="veth bridge tun dummy sch_netem sch_tbf sch_fq sch_fq_codel sch_ingress cls_bpf act_bpf autofs4 configfs"

# make_root: a Debian 12 with systemd as `$work/root.tar`.
make_root() {
    [ ! -e "$work/root.tar" ] || return 0
    echo "other-kernels: makes a root file system" >&2
    {
        mmdebstrap --variant=minbase --include="$ROOT_PACKAGES" bookworm "$work/root.new.tar" "$(mirror debian)" &&
            mv "$work/root.new.tar" "$work/root.tar"
    } >"$work/root.log" 2>&1
}

# install_package DEB: the root file system with the package installed, its units enabled and the smoke test in
# /payload, as `$image`; beside them the package with a higher version and the same contents.
install_package() {
    top=$work/root.$$
    new=$work/new.$$
    rm -rf "$top"
    mkdir -p "$top"
    tar -C "$top" --exclude=./dev/* -xf "$work/root.tar"
    prepare_root "$top"
    mkdir -p "$top/payload" "$new"
    cp "$1" "$top/payload/old.deb"
    dpkg-deb -R "$1" "$new"
    sed -i 's/^\(Version: .*\)$/\1+1/' "$new/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone -b "$new" "$top/payload/new.deb" >/dev/null
    rm -rf "$new"
    cp "$here"/guest/*.py "$top/payload/"
    # `make package` has installed clang; without it that check is left out.
    clang -O2 -target bpf -idirafter "/usr/include/$(gcc -print-multiarch 2>/dev/null)" -c "$here/guest/foreign.c" \
        -o "$top/payload/foreign.o" 2>"$work/foreign.log" || rm -f "$top/payload/foreign.o"
    {
        chroot "$top" dpkg -i /payload/old.deb
        # What an installation enables by itself would be seen here.
        find "$top/etc/systemd/system" -name 'ackord*' >"$top/payload/enabled"
        mkdir -p "$top/etc/ackord"
        cp "$here"/guest/*.toml "$top/etc/ackord/"
        systemctl --root="$top" enable ackord-gateway ackord-agent
    } >"$work/install.log" 2>&1
    mke2fs -q -t ext4 -d "$top" "$image" 1500M >"$work/mke2fs.log" 2>&1
    rm -rf "$top"
}

# prepare_root FOLDER: it runs the smoke test when it is up, and nothing that waits for a person or a network.
prepare_root() {
    echo guest >"$1/etc/hostname"
    printf '127.0.0.1 localhost guest\n' >"$1/etc/hosts"
    : >"$1/etc/fstab"
    echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
    for unit in getty@.service serial-getty@.service systemd-timesyncd.service apt-daily.timer apt-daily-upgrade.timer \
        systemd-networkd-wait-online.service fstrim.timer e2scrub_all.timer e2scrub_reap.service dpkg-db-backup.timer \
        systemd-update-utmp.service systemd-random-seed.service ldconfig.service; do
        ln -sf /dev/null "$1/etc/systemd/system/$unit"
    done
    mkdir -p "$1/etc/systemd/system/multi-user.target.wants" "$1/var/log/journal"
    cp "$here/guest/smoke.service" "$1/etc/systemd/system/"
    ln -sf ../smoke.service "$1/etc/systemd/system/multi-user.target.wants/smoke.service"
}

# make_initramfs NAME: loads what its disks need, lays its modules into the root file system, and starts systemd.
make_initramfs() {
    folder=$work/$1
    release=$(cat "$folder/release")
    top=$work/initramfs.$$
    rm -rf "$top"
    mkdir -p "$top/bin" "$top/lib/modules/$release"
    cp "$(command -v busybox)" "$top/bin/busybox"
    install -m 755 "$here/init" "$top/init"
    : >"$top/boot-modules"
    for module in $BOOT_MODULES $MODULES; do
        modprobe -d "$PWD/$folder" -S "$release" --show-depends "$module" 2>/dev/null || true
    done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' >"$work/modules.$$"
    while read -r file; do
        inside=lib/modules/$release/${file#*/lib/modules/"$release"/}
        mkdir -p "$top/$(dirname "$inside")"
        # Busybox loads no compressed ones.
        case $file in
        *.xz) inside=${inside%.xz} && xz -dc "$file" >"$top/$inside" ;;
        *.zst) inside=${inside%.zst} && zstd -qdc "$file" >"$top/$inside" ;;
        *) cp "$file" "$top/$inside" ;;
        esac
        case $file in */net/*) ;; *) echo "/$inside" >>"$top/boot-modules" ;; esac
    done <"$work/modules.$$"
    # As a kernel's package does.
    mkdir -p "$top/boot"
    cp "$folder/boot/config-$release" "$top/boot/" 2>/dev/null || true
    cp "$folder/lib/modules/$release"/modules.builtin* "$folder/lib/modules/$release"/modules.order "$top/lib/modules/$release/" 2>/dev/null || true
    depmod -b "$top" "$release"
    (cd "$top" && find . | cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initramfs.gz"
    rm -rf "$top" "$work/modules.$$"
}
