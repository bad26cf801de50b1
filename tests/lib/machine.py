"""What a measurement was taken on, as `weft bench --json` has it."""

import os
import pathlib
import re
import time


def machine():
    processor = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return {
        "processor": processor[1] if processor else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": os.uname().release,
        "load": f"{os.getloadavg()[0]:.2f}",
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
