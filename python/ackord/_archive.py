"""Results in files: a ZIP archive of JSON, Arrow streams and the report.

``ackord.json`` is the first member: ``format`` is ``"ackord result"``, ``format_version`` counts changes that
older programs cannot read, ``kind`` is ``"run"``, ``"comparison"`` or ``"sweep"``, ``version`` is that of the
program. ``results.json`` has the bytes of ``--json``, ``tables/NAME.arrow`` and ``series/NAME.arrow`` are streams
of Arrow's IPC format, and ``report/`` has the files of the report.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from ackord._ackord import InputError, Table, __version__

_FORMAT, _FORMAT_VERSION = "ackord result", 1
_HEAD = "ackord.json"
#: A time that is in every archive, so that equal results are equal files.
_TIME = (1980, 1, 1, 0, 0, 0)


class Archive:
    """What an archive has."""

    def __init__(self, kind: str, facts: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
        self.kind, self.facts, self.members = kind, dict(facts), dict(members)

    def table(self, name: str) -> Table:
        """A table by its member's name, without ending."""
        return Table.from_ipc(self.members[f"{name}.arrow"])

    def text(self, name: str) -> str:
        """A member as text."""
        return self.members[name].decode()

    def below(self, folder: str) -> dict[str, bytes]:
        """The members in a folder, by their names in it."""
        start = f"{folder}/"
        return {name.removeprefix(start): it for name, it in self.members.items() if name.startswith(start)}

    def write(self, file: IO[bytes]) -> None:
        """Writes the archive."""
        head = {"format": _FORMAT, "format_version": _FORMAT_VERSION, "kind": self.kind, "version": __version__}
        members = {_HEAD: json.dumps(head | self.facts, indent=2).encode(), **self.members}
        with zipfile.ZipFile(file, "w") as out:
            for name, data in members.items():
                out.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)

    def to_bytes(self) -> bytes:
        """The archive as bytes."""
        file = io.BytesIO()
        self.write(file)
        return file.getvalue()

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the archive to ``path``, which has it whole or not at all."""
        to = Path(fspath(path))
        handle, partial = tempfile.mkstemp(prefix=f".{to.name}.", dir=to.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                self.write(file)
            Path(partial).chmod(0o644)
            os.replace(partial, to)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
        return to

    @staticmethod
    def read(file: str | PathLike[str] | bytes) -> Archive:
        """Reads an archive from a file or bytes.

        Raises:
            InputError: if it is none, or of a version that this program does not know.
        """
        name = "the archive" if isinstance(file, bytes) else f"`{fspath(file)}`"
        source: Any = io.BytesIO(file) if isinstance(file, bytes) else file
        try:
            with zipfile.ZipFile(source) as archive:
                members = {it: archive.read(it) for it in archive.namelist()}
            head = json.loads(members.pop(_HEAD))
            known = head["format"] == _FORMAT
            version = head["format_version"]
        except FileNotFoundError:
            raise InputError(f"there is no file {name}") from None
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{name} is no result that `save` has written, or it is damaged") from error
        if not known:
            raise InputError(f"{name} is no result that `save` has written")
        if version != _FORMAT_VERSION:
            by = f"ackord {head.get('version')}"
            raise InputError(
                f"{name} has version {version} of the format, of {by}: this is ackord {__version__}, which reads "
                f"version {_FORMAT_VERSION}"
            )
        return Archive(head["kind"], head, members)


def report_members(write: Any) -> dict[str, bytes]:
    """The files of a report as members."""
    with tempfile.TemporaryDirectory(prefix="ackord-") as folder:
        paths = write(folder)
        return {f"report/{Path(path).relative_to(folder).as_posix()}": Path(path).read_bytes() for path in paths}


def write_members(archive: Archive, folder: str | PathLike[str]) -> list[Path]:
    """Writes the files of a report from an archive into a folder."""
    paths = []
    for name, data in archive.below("report").items():
        path = Path(folder, name)
        if not path.resolve().is_relative_to(Path(folder).resolve()):
            raise InputError(f"the archive is damaged: `{name}` leads out of the folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(path)
    return paths
