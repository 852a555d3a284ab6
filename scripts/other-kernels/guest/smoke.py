#!/usr/bin/env python3
"""The smoke test of a guest: its units first, which have been waiting since the boot, then both daemons from a shell."""
import os, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common, shell, units


def main():
    common.reset(common.RESULT)
    common.check("both", "installed, nothing enabled", units.installed)
    common.check("agent", "probe", shell.probe_agent)
    common.check("gateway", "probe", shell.probe_gateway)
    units.main()
    shell.main()
    common.check("both", "purge", units.purges)
    common.check("both", "finished", lambda: "")
    common.finish()


try:
    main()
finally:
    subprocess.run(["systemctl", "poweroff"], check=False)
