#!/bin/sh
# Builds the documentation site, out/site, in a virtual environment of its own. Fails on a page that is nowhere, a link,
# an anchor or a picture that leads nowhere, and a public name of the Python package without a docstring. Needs Python
# 3.11 or newer with venv, and a way to the packages that docs/site/requirements.txt names; nothing else is built.
#
# VENV     where the virtual environment is (out/docs)
# PYTHON   which Python (python3)
set -eu

cd "$(dirname "$0")/.."
venv=${VENV:-out/docs}
python=${PYTHON:-python3}

scripts/venv.sh "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement docs/site/requirements.txt
# The theme has an opinion on a later version of mkdocs.
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --quiet --strict --config-file docs/site/mkdocs.yml
echo "docs: out/site; to read it with its search: $python -m http.server --directory out/site" >&2
