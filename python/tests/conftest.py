"""What tests say of the machine they run on: a line that begins with SKIPPED, and why.

With ``SKIPS=forbidden`` a test that the machine cannot run fails, but for one that a busy machine keeps from
being judged.
"""

import json
import os
import subprocess
from collections.abc import Generator

import pytest
from ackord.__main__ import program

BUSY = "SKIPPED: busy ("


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("SKIPS") == "forbidden" and BUSY not in str(report.longrepr):
        report.outcome = "failed"
    return report


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
