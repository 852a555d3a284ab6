"""`ackord`, the command line."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def program() -> Path | None:
    """The command line's program: the package's own, or the first in PATH that is not this."""
    own = Path(__file__).parent / "bin" / "ackord"
    if own.exists():
        return own
    for folder in os.get_exec_path():
        found = shutil.which("ackord", path=folder)
        # A script of this package would only come back here.
        if found and Path(found).read_bytes()[:4] == b"\x7fELF":
            return Path(found)
    return None


def main() -> None:
    """Becomes the command line."""
    found = program()
    if found is None:
        sys.exit("ackord: this package was built without its command line, and PATH has none")
    os.execv(found, ["ackord", *sys.argv[1:]])


if __name__ == "__main__":
    main()
