"""Runs one file of rdma-core's test suite and prints a line for each test: verdict, name, and why.

    pyverbs_driver.py FOLDER MODULE [options of the suite]

SUITE_ADDRESS says the address of the device's network interface, which the suite would look for in sysfs; nobody but the
kernel can add one there. FOLDER holds the suite as the package `tests`. Started by pyverbs_suite.py with the interpreter that Debian's pyverbs is for.
"""

import importlib
import os
import sys
import traceback
import unittest


class Lines(unittest.TestResult):
    def say(self, verdict, test, why=""):
        name = test.id().removeprefix("tests.")
        words = " ".join(why.strip().split("\n")[-1].split())
        print(f"@{verdict} {name} {words}", flush=True)

    def addSuccess(self, test):
        self.say("passed", test)

    def addSkip(self, test, reason):
        self.say("skipped", test, reason)

    def addFailure(self, test, error):
        traceback.print_exception(*error, file=sys.stdout)
        self.say("failed", test, str(error[1]))

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error:
            self.addFailure(subtest, error)


def main():
    folder, module = sys.argv[1:3]
    sys.argv[1:3] = []
    sys.path.insert(0, folder)
    sys.path.insert(0, f"{folder}/tests")
    from args_parser import parser

    parser.parse_args()
    address = os.environ.get("SUITE_ADDRESS")
    if address:
        base = importlib.import_module("tests.base")
        base.RDMATestCase._get_ip_mac = lambda self, *where: self.args.append([*where, address, "00:00:00:00:00:00"])
    loaded = importlib.import_module(f"tests.{module}")
    unittest.defaultTestLoader.loadTestsFromModule(loaded).run(Lines())


main()
