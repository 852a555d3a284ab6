# shellcheck shell=sh disable=SC2154,SC2034 # the caller's variables
# A guest: boots, tries, and powers off. Sourced by scripts/other-kernels.sh.

# Seconds that a guest may take.
GUEST_SECONDS=${GUEST_SECONDS:-900}

# choose_accelerator KERNEL INITRAMFS: kvm if it really runs a kernel, else tcg; in `accelerator`. A /dev/kvm that
# answers may still not run one.
choose_accelerator() {
    [ -z "${accelerator:-}" ] || return 0
    accelerator=tcg
    [ -w /dev/kvm ] || return 0
    timeout 20 qemu-system-x86_64 -accel kvm -cpu host -m 512 -nic none -display none -no-reboot -kernel "$1" \
        -append "console=ttyS0 panic=-1" -serial "file:$work/kvm.log" </dev/null >/dev/null 2>&1 || true
    ! grep -q 'Linux version' "$work/kvm.log" 2>/dev/null || accelerator=kvm
}

# boot NAME: leaves results, journal and console in `$out/NAME`. Fails if a check did.
boot() {
    folder=$work/$1
    release=$(cat "$folder/release")
    kernel=$folder/boot/vmlinuz-$release
    choose_accelerator "$kernel"
    rm -rf "${out:?}/$1"
    mkdir -p "$out/$1"
    # Several may run at the same time.
    disk=$work/$1.qcow2
    result=$work/$1.tar
    qemu-img create -q -f qcow2 -F raw -b "$PWD/$image" "$disk"
    truncate -s 0 "$result"
    truncate -s 64M "$result"
    began=$(date +%s)
    cpu=max
    [ "$accelerator" = tcg ] || cpu=host
    timeout "$GUEST_SECONDS" qemu-system-x86_64 -accel "$accelerator" -cpu "$cpu" -smp 2 -m 1536 -nic none \
        -display none -monitor none -kernel "$kernel" -initrd "$folder/initramfs.gz" \
        -append "console=ttyS0 root=/dev/vda quiet panic=-1 systemd.show_status=0 net.ifnames=0 mitigations=off" \
        -drive "file=$disk,if=virtio,cache=unsafe" \
        -drive "file=$result,if=virtio,format=raw,cache=unsafe" \
        -serial "file:$out/$1/console.log" </dev/null >"$out/$1/qemu.log" 2>&1 || true
    took=$(($(date +%s) - began))
    rm -f "$disk"
    tar -C "$out/$1" -xf "$result" 2>/dev/null || true
    rm -f "$result"
    results=$out/$1/results.tsv
    # A guest that did not end in time has left its results on the console only.
    [ -s "$results" ] || tr -d '\r' <"$out/$1/console.log" |
        sed -n 's/^\[ *[0-9.]*\] python3\[[0-9]*\]: \[ *[0-9.]* s\] //p' >"$results"
    printf 'release\t%s\npackage\t%s\naccelerator\t%s\nseconds\t%s\n' \
        "$release" "$(cat "$folder/version")" "$accelerator" "$took" >"$out/$1/guest.tsv"
    [ -s "$results" ] || {
        echo "other-kernels: $1 ($release): the guest reported nothing in $took s, see $out/$1/console.log"
        return 1
    }
    bad=$(awk -F '\t' '$3 == "failed"' "$results" | wc -l)
    awk -F '\t' -v name="$1" '{printf "%s: %-8s %-34s %-8s %s\n", name, $1, $2, $3, $4}' "$results"
    echo "other-kernels: $1 ($release, $accelerator): $(wc -l <"$results") checks, $bad failed, $took s"
    [ "$bad" -eq 0 ] && grep -q 'finished' "$results"
}
