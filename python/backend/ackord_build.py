"""Hook of hatchling: compiles the extension module and the program `ackord`, and adds both to the wheel.

One cargo invocation builds both. Two invocations would resolve the features of common dependencies differently, and
compile every crate below them twice.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What cargo builds unless the environment variable ACKORD_BUILD holds other arguments.
SELECTION = "--profile release --package ackord-cli --package ackord-py"
#: Where the package holds the extension module and the program.
MODULE, PROGRAM = "ackord/_ackord.abi3.so", "ackord/bin/ackord"


class BuildHook(BuildHookInterface[Any]):
    """Builds before a wheel is packed; a source distribution needs nothing compiled."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds what cargo built to the wheel, or to the source tree of an editable installation."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        built = compiled(root)
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"
        to = root / "python" if version == "editable" else root / "out" / "wheel"
        for name, source in built.items():
            path = to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # A process that has the old file mapped keeps it.
            path.unlink(missing_ok=True)
            shutil.copy2(source, path)
            if shutil.which("strip"):
                subprocess.run(["strip", path], check=True)
            if version != "editable":
                build_data["force_include"][str(path)] = name


def compiled(root: Path) -> dict[str, Path]:
    """Runs cargo, and returns the files it built by their names in the package."""
    selection = os.environ.get("ACKORD_BUILD", SELECTION).split()
    command = ["cargo", "build", *selection, "--lib", "--bin", "ackord", "--message-format", "json-render-diagnostics"]
    ended = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    built: dict[str, Path] = {}
    for line in ended.stdout.splitlines():
        artifact = json.loads(line)
        if artifact["reason"] != "compiler-artifact":
            continue
        if artifact["target"]["name"] == "_ackord":
            built[MODULE] = Path(artifact["filenames"][0])
        elif artifact["target"]["name"] == "ackord" and artifact["executable"]:
            built[PROGRAM] = Path(artifact["executable"])
    missing = {MODULE, PROGRAM} - built.keys()
    if missing:
        raise RuntimeError(f"cargo {' '.join(selection)} built no {', '.join(sorted(missing))}")
    return built
