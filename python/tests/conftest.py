"""What tests say of the machine they run on: a line that begins with SKIPPED, and why.

With ``SKIPS=forbidden`` a test that the machine cannot run fails, but for one that a busy machine keeps from
being judged.
"""

import json
import os
import subprocess
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import ackord as ak
import polars as pl
import pytest
from ackord.__main__ import program
from polars.testing import assert_frame_equal

BUSY = "SKIPPED: busy ("
#: How long the runs of a campaign take altogether, in seconds of one processor.
CAMPAIGN_S = 6.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("SKIPS") == "forbidden" and BUSY not in str(report.longrepr):
        report.outcome = "failed"
    return report


@dataclass(frozen=True)
class Campaign:
    """A sweep that takes some seconds of a processor, so that a worker can be killed amid its work."""

    how: dict[str, Any]
    #: What it comes to: flows, links, runs.
    tables: list[pl.DataFrame]

    def is_the_same_with(self, **more: Any) -> None:
        for one, other in zip(frames(ak.sweep(**self.how, **more)), self.tables, strict=True):
            assert_frame_equal(one, other)


def frames(sweep: ak.Sweep) -> list[pl.DataFrame]:
    return [pl.DataFrame(table) for table in (sweep.flows, sweep.links, sweep.runs)]


@pytest.fixture(scope="session")
def campaign() -> Campaign:
    grid = {"links.bottleneck.queue.limit": ["20 packets", "50 packets"]}
    how = {"scenario": "reno-against-vegas", "grid": grid, "set": {"duration": "10 s"}, "task_s": 0.5}
    began = time.process_time()
    ak.sweep(**how, seeds=10)  # type: ignore[arg-type]
    one_s = (time.process_time() - began) / 20
    how["seeds"] = max(20, round(CAMPAIGN_S / one_s / 2))
    return Campaign(how, frames(ak.sweep(**how)))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def command() -> str:
    """The command line that the package carries."""
    found = program()
    if found is None:
        pytest.skip("SKIPPED: the package was built without the command line")
    return found


@pytest.fixture(scope="session")
def kernel(command: str) -> str:
    """The name of a stock kernel that has been built."""
    listed = subprocess.run([command, "kernel", "list", "--json", "-"], capture_output=True, text=True)
    kernels = json.loads(listed.stdout)["kernels"] if listed.returncode == 0 else []
    sound = [kernel["name"] for kernel in kernels if kernel["state"] == "sound"]
    if not sound:
        pytest.skip("SKIPPED: no stock kernel has been built (make kernel)")
    name: str = sound[0]
    return name


@pytest.fixture(scope="session")
def gymnasium() -> None:
    """The package that `ackord.gym` needs."""
    pytest.importorskip("gymnasium", reason="SKIPPED: not installed: gymnasium")


@pytest.fixture(scope="session")
def pandas() -> None:
    """The package that `Table.to_pandas` needs."""
    pytest.importorskip("pandas", reason="SKIPPED: not installed: pandas")


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Network namespaces with TUN devices."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("SKIPPED: no /dev/net/tun")
    try:
        made = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "true"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("SKIPPED: not installed: unshare")
    if os.geteuid() != 0 and made.returncode != 0:
        pytest.skip("SKIPPED: neither root nor user namespaces")
