#!/bin/sh
# Builds the Python package with the command line in it, installs it into a virtual environment of its own, and passes
# its tests, which execute the notebooks, too (BLESS=1 writes what those show). Prints how long each step took. Needs
# Python 3.11 or newer with venv, and a way to the packages that pyproject.toml names.
#
# VENV     where the virtual environment is (out/python)
# PROFILE  how Rust is built (release); with `dev` the crates that `make test` compiled are not compiled again
# PYTHON   which Python (python3)
# LONG     set to anything: with the tests that take minutes
set -eu

cd "$(dirname "$0")/.."
venv=${VENV:-out/python}
profile=${PROFILE:-release}
took=""

# step NAME COMMAND...: runs a step and notes how long it took.
step() {
    name=$1
    shift
    echo "python: $name" >&2
    began=$(date +%s)
    "$@"
    took="$took
  $name: $(($(date +%s) - began)) s"
}

# From another folder: what is installed is tested, not what lies here.
tests() (
    root=$PWD
    cd "$venv"
    ./bin/python -m pytest -q -c "$root/pyproject.toml" --rootdir "$root" -m "${LONG:+long or }not long" \
        "$root/python/tests"
)

# The features of the dependencies follow from the packages that are selected. Those of `make test` are all.
case $profile in
dev) packages="--workspace $(scripts/features.sh)" ;;
*) packages="--package ackord-cli --package ackord-py" ;;
esac
export ACKORD_BUILD="--profile $profile $packages"

step "virtual environment" scripts/venv.sh "$venv"
# shellcheck disable=SC2086 # a list of words
step "Rust, profile $profile" cargo build $ACKORD_BUILD --lib --bin ackord
step "the wheel and the packages for its tests, into $venv" \
    "$venv/bin/pip" install --quiet --disable-pip-version-check ".[test]"
step "types" "$venv/bin/mypy"
step "tests" tests
printf '\nTook:%s\n' "$took"
