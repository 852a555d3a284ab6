# To be sourced by what takes times: `nobody_compiles` waits until no compiler or linker runs, ten minutes at most.
nobody_compiles() {
    local left
    for left in $(seq 600 -1 0); do
        ps -e -o comm= | grep -q -x -E 'rustc|cargo|cc1|cc1plus|clang|ld|ld.lld' || return 0
        [ "$left" -gt 0 ] || echo "timed beside a compiler" >&2
        sleep 1
    done
}
