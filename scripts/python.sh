#!/bin/sh
# Builds the Python package with the command line in it, installs it into a virtual environment of its own, and passes
# its tests, which execute the notebooks, too (BLESS=1 writes what those show). Needs Python 3.11 or newer with venv, and
# a way to the packages that pyproject.toml names.
#
# VENV     where the virtual environment is (out/python)
# PROFILE  how Rust is built (release)
# PYTHON   which Python (python3)
# LONG     set to anything: with the tests that take minutes
set -eu

cd "$(dirname "$0")/.."
venv=${VENV:-out/python}

scripts/venv.sh "$venv"
echo "python: the package and what its tests use, into $venv" >&2
ACKORD_PROFILE=${PROFILE:-release} "$venv/bin/pip" install --quiet --disable-pip-version-check \
    --config-settings "build-args=--profile ${PROFILE:-release}" ".[test]"
"$venv/bin/mypy"
# From another folder: what is installed is tested, not what lies here.
root=$PWD
cd "$venv"
exec ./bin/python -m pytest -q -c "$root/pyproject.toml" --rootdir "$root" -m "${LONG:+long or }not long" \
    "$root/python/tests"
