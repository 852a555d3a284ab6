"""Builds the wheel by maturin, with the command `ackord` in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401  what else a build backend has
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[2]
#: Where the package has the command.
PROGRAM = ROOT / "python" / "ackord" / "bin" / "ackord"


def build_wheel(directory: str, config: Any = None, metadata: str | None = None) -> str:
    build_program()
    wheel: str = maturin.build_wheel(directory, config, metadata)
    return wheel


def build_editable(directory: str, config: Any = None, metadata: str | None = None) -> str:
    build_program()
    wheel: str = maturin.build_editable(directory, config, metadata)
    return wheel


def build_program() -> None:
    """The command line, where cargo is; the package works without it, but for kernels and the command."""
    profile = os.environ.get("ACKORD_PROFILE", "release")
    command = ["cargo", "build", "--profile", profile, "--package", "ackord-cli"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = target / ("debug" if profile == "dev" else profile) / "ackord"
    PROGRAM.parent.mkdir(exist_ok=True)
    shutil.copy2(built, PROGRAM)
    if shutil.which("strip"):
        subprocess.run(["strip", PROGRAM], check=True)
