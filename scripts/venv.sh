#!/bin/sh
# Makes a virtual environment, where there is none yet. Needs Python 3.11 or newer with venv.
#
# Usage: scripts/venv.sh DIR
#
# PYTHON   which Python (python3)
set -eu

python=${PYTHON:-python3}
"$python" - <<'CHECK' || exit 1
import sys
if sys.version_info < (3, 11):
    sys.exit(f"venv: this is Python {sys.version.split()[0]}: 3.11 or newer is needed (PYTHON names another)")
CHECK
[ -x "$1/bin/python" ] || "$python" -m venv "$1"
