#!/usr/bin/env python3
"""Both boots of a guest: the first tries the daemons from a shell, the second under systemd."""
import os, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common

SECOND = "/var/lib/second-boot"


def main():
    os.makedirs(common.RESULT, exist_ok=True)
    # A log of the journal that survives the reboot is among the results.
    os.makedirs("/var/log/journal", exist_ok=True)
    if not os.path.exists(SECOND):
        import first
        if first.main():
            open(SECOND, "w").close()
            os.sync()
            subprocess.run(["systemctl", "reboot"], check=False)
            return
    else:
        import second
        second.main()
    common.check("both", "finished", lambda: "")
    common.finish()
    subprocess.run(["systemctl", "poweroff"], check=False)


main()
