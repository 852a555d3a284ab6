#!/bin/sh
# Builds what draws the interactive graphs of HTML reports: ui/dist, which the next build of the program takes in.
# Quick when nothing changed. Where it cannot, it says what is left out.
#
# Usage: scripts/ui.sh            fails where it cannot
#        scripts/ui.sh tolerant   goes on: reports then have their tables, and say what is missing
set -u

here=$(dirname "$0")/../ui
tolerant=${1:-}

give_up() {
    echo "ui: $1: HTML reports will be without their interactive graph" >&2
    [ "$tolerant" = tolerant ] && exit 0
    exit 1
}

cd "$here" || exit 1
command -v npm >/dev/null 2>&1 || give_up "no npm"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
stamp=node_modules/.installed
if ! cmp -s package-lock.json "$stamp"; then
    echo "ui: npm ci" >&2
    # esbuild and TypeScript come as ready programs in packages; nothing has to be run to install them.
    npm ci --ignore-scripts --no-audit --no-fund >"$log" 2>&1 || {
        tail -n 5 "$log" >&2
        give_up "npm could not install what ui/package-lock.json names"
    }
    cp package-lock.json "$stamp"
fi
npm run --silent build >"$log" 2>&1 || {
    cat "$log" >&2
    give_up "it could not be built"
}
