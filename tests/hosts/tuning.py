"""`weft bench collectives --tune` between hosts: every algorithm of every collective runs there, and rules come of it."""

import functools
import re

from lib.cases import Skip, require
from lib.hosts import Hosts
from tune import RULES, command

LAYOUTS = "2x2,3x2"


def rules_by_operation(text):
    """{operation: the lines of its rules} of a file of rules."""
    return {name: rules.split("\n")[:-1] for name, rules in re.findall(r"^    (\w+) \{\n((?:        .*\n)*)    \}$", text, re.M)}


def tune(site):
    if site.library != "weft":
        raise Skip("only our library has tables to tune")
    file = site.build / "measured.rs"
    file.unlink(missing_ok=True)
    with Hosts(3) as hosts:
        words = command(site.prefix, LAYOUTS, file, hosts.names())
        result = hosts[0].run([*words, "--rounds", 1, "--seconds", 0.001, "--sizes", "8,64K"], timeout=240).ok("by algorithm")
        hosts.check_clean()
    said = result.output
    for name in ("hierarchical_split", "hierarchical_streams", "hierarchical_ring"):
        require(name in said, f"no figure of {name}:\n{said}")
    require(" direct" not in said and " shared" not in said, f"figures of what cannot run between hosts:\n{said}")
    rules, here = rules_by_operation(file.read_text()), rules_by_operation(RULES.read_text())
    require(set(rules) == set(here), f"rules of other operations than in {RULES}: {sorted(rules)}")
    for operation, found in rules.items():
        layouts = {tuple(rule.split(", ")[:2]) for rule in found if " ANY =>" in rule}
        require(layouts == {("        2", "2"), ("        3", "2")}, f"{operation} has no rule for the longest of a layout: {found}")


def cases(site):
    yield "tuning: rules come of it", functools.partial(tune, site)
