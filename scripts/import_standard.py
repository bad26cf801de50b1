#!/usr/bin/env python3
"""Write crates/library/interface/abi/table from pympistandard (MPI-5.0 names and parameters).

    python3 scripts/import_standard.py [TABLE_DIR]

The table is the source of include/mpi.h and of the checks in #[mpi]; it is in git, so this script is
needed again only for a new version of the standard. What the package lacks is added here: the chapter of
a function, whether it may be called outside MPI_Init..MPI_Finalize, and the three corrections below.
"""
import json
import re
import sys
import textwrap
from importlib import resources
from pathlib import Path

import pympistandard as standard

CHAPTERS = {
    3: ("point-to-point", "Point-to-point communication"),
    4: ("partitioned", "Partitioned point-to-point communication"),
    5: ("datatypes", "Datatypes"),
    6: ("collective", "Collective communication"),
    7: ("communicators", "Groups, contexts, communicators and caching"),
    8: ("topologies", "Virtual topologies"),
    9: ("environment", "Environment"),
    10: ("info", "The info object"),
    11: ("processes", "Process initialization, creation and management"),
    12: ("one-sided", "One-sided communication"),
    13: ("external", "External interfaces"),
    14: ("io", "I/O"),
    15: ("tools", "Tool support"),
    16: ("deprecated", "Deprecated interfaces"),
    19: ("languages", "Language bindings"),
    20: ("abi", "Application binary interface"),
}

DEPRECATED = (
    "Attr_delete|Attr_get|Attr_put|Keyval_create|Keyval_free|Info_get|Info_get_valuelen|Get_elements_x"
    "|Status_set_elements_x|Type_size_x|Type_get_extent_x|Type_get_true_extent_x"
)

# The first pattern that matches the whole name (without MPI_) decides.
CHAPTER_OF = [
    (16, DEPRECATED),
    (20, r"Abi_\w+|\w+_(toint|fromint)"),
    (15, r"T_\w+|Pcontrol"),
    (4, r"Psend_init|Precv_init|Pready\w*|Parrived"),
    (14, r"File_(?!call_err|create_err|get_err|set_err)\w+|Register_datarep"),
    (9, r"\w+_errhandler|Errhandler_free|Error_\w+|(Add|Remove)_error_\w+|Get_version|Get_library_version"
        r"|Get_processor_name|Get_hw_resource_info|Wtime|Wtick|Alloc_mem|Free_mem"),
    (7, r"(Comm|Type|Win)_(create_keyval|free_keyval|set_attr|get_attr|delete_attr|set_name|get_name)"),
    (12, r"Win_\w+|R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate"
         r"|Fetch_and_op|Compare_and_swap"),
    (11, r"Init|Init_thread|Finalize|Initialized|Finalized|Abort|Query_thread|Is_thread_main|Session_(?!\w*buffer)\w+"
         r"|Comm_(spawn\w*|get_parent|accept|connect|disconnect|join)|(Open|Close)_port"
         r"|(Publish|Unpublish|Lookup)_name"),
    (10, r"Info_\w+"),
    (13, r"Grequest_\w+|Status_set_\w+"),
    (19, r"Type_create_f90_\w+|Type_match_size"),
    (8, r"Cart\w*|Graph\w*|Dist_graph\w*|I?neighbor\w*|Neighbor\w*|Dims_create|Topo_test"),
    (6, r"I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|reduce_scatter"
        r"(_block)?|scan|exscan)(_init)?|Reduce_local|Op_(create|free|commutative)|Type_get_value_index"),
    (5, r"Type_\w+|Pack\w*|Unpack\w*|Aint_\w+|Get_address|Get_elements"),
    (3, r"\w*buffer\w*|I?[bsr]?send\w*|I?m?recv|I?m?probe|Send\w*|Isend\w*|(Test|Wait)(all|any|some)?|Request_\w+"
        r"|Start(all)?|Cancel|Recv_init|[BSR]send_init|Sendrecv\w*|Get_count|Status_get_\w+|Test_cancelled"),
    (7, r"Comm_\w+|Group_\w+|Intercomm_\w+"),
]

# Functions that need no initialized library (MPI-5.0 §11.4.1, §10, §15.3, §20), or touch no state of a job at all.
ANY_TIME = (
    r"Initialized|Finalized|Init|Init_thread|Session_init|Get_version|Get_library_version|Abi_\w+"
    r"|\w+_(toint|fromint)|Info_\w+|Session_(create|call)_errhandler|Errhandler_free|Error_(class|string)"
    r"|(Add|Remove)_error_\w+|T_\w+|Wtime|Wtick|Pcontrol|Aint_\w+|Get_address|Status_[gs]et_\w+|Test_cancelled"
    r"|Get_hw_resource_info|Get_processor_name|Free_mem"
)


def chapter_of(name):
    for number, pattern in CHAPTER_OF:
        if re.fullmatch(pattern, name) or re.fullmatch(pattern, name.lower()):
            return number
    raise SystemExit(f"no chapter for MPI_{name}")


def correct(entry):
    """The places where the standard's data and the ABI differ."""
    name = entry["name"]
    for parameter in entry["parameters"]:
        if name in ("MPI_Psend_init", "MPI_Precv_init") and parameter["name"] == "count":
            parameter["kind"] = "POLYXFER_NUM_ELEM_NNI"  # int, and a large-count twin
        if name == "MPI_Info_create_env" and parameter["name"] == "argv":
            parameter["_declarator"] = "*argv[]"  # one level more than the package prints


def declarator(entry, parameter):
    """Pointer stars, name and array suffix of the C declaration."""
    if "_declarator" in parameter:
        return parameter["_declarator"]
    printed = standard.isoc.ISOCParameter(parameter)
    return "*" * printed.pointer_level + parameter["name"] + printed.array


def render_parameter(entry, parameter):
    kind = parameter["kind"]
    if kind == "VARARGS":
        return "VARARGS ..."
    if kind in ("FUNCTION", "POLYFUNCTION"):
        kind += f"<{parameter['func_type']}>"
    words = []
    if parameter["large_only"]:
        words.append("large")
    if parameter["param_direction"] != "in":
        words.append(parameter["param_direction"])
    if parameter["constant"]:
        words.append("const")
    return " ".join(words + [kind, declarator(entry, parameter)])


RETURNS = {
    "ERROR_CODE": "", "ERROR_CLASS": "", "KEY_INDEX": "int", "WALL_TIME": "double", "TICK_RESOLUTION": "double",
    "NOTHING": "void",
}


def render(entry, flags):
    correct(entry)
    parameters = [p for p in entry["parameters"] if "c_parameter" not in p["suppress"]]
    text = entry["name"].removeprefix("MPI_") + "".join(f" {flag}" for flag in flags) + "("
    text += ", ".join(render_parameter(entry, p) for p in parameters) + ")"
    kind = entry["return_kind"]
    result = RETURNS[kind] if kind in RETURNS else standard.KINDS[kind].express.iso_c
    if result:
        text += f" -> {result}"
    # A line breaks after a comma only: inside a parameter the blanks are kept together.
    text = re.sub(r"(?<!,) ", "\xa0", text)
    lines = textwrap.wrap(text, 118, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0", " ") + "\n"


def kinds(entries):
    used = {p["kind"] for e in entries for p in e["parameters"] if "c_parameter" not in p["suppress"]}
    for name in sorted(used - {"VARARGS", "FUNCTION", "POLYFUNCTION"}):
        kind = standard.KINDS[name]
        large = f" {kind._iso_c_large}" if name.startswith("POLY") else ""
        yield f"{name} {kind._iso_c_small}{large}\n"


def main():
    table = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "crates/library/interface/abi/table")
    standard.use_api_version()
    api = json.loads(resources.files("pympistandard.data").joinpath("apis.json").read_text())
    entries = [e for e in api.values() if e["attributes"]["c_expressible"]]
    entries = [e for e in entries if not e["attributes"]["predefined_function"]]
    entries = [e for e in entries if not re.search(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08)$", e["name"])]
    callbacks = [e for e in entries if e["attributes"]["callback"]]
    functions = [e for e in entries if not e["attributes"]["callback"]]

    chapters = {}
    for entry in sorted(functions, key=lambda e: e["name"]):
        name = entry["name"].removeprefix("MPI_")
        flags = [flag for flag, names in (("any", ANY_TIME), ("deprecated", DEPRECATED)) if re.fullmatch(names, name)]
        chapters.setdefault(chapter_of(name), []).append(render(entry, flags))
    for number, (file, title) in CHAPTERS.items():
        text = f"chapter {number} {title}\n\n" + "".join(chapters[number])
        (table / f"{number:02}-{file}.txt").write_text(text)
    (table / "callbacks.txt").write_text("".join(render(e, []) for e in sorted(callbacks, key=lambda e: e["name"])))
    (table / "kinds.txt").write_text("".join(kinds(functions + callbacks)))


main()
