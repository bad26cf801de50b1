#!/usr/bin/env python3
"""Check include/mpi.h and include/fortran/mpi.f90 against independent sources.

    python3 scripts/check_header.py --peer FILE

1. every prototype agrees, type by type, with pympistandard (MPI-5.0), but for the differences named below;
2. every interface of the module mpi agrees with it, argument by argument;
3. every callback type, every constant and the size and alignment of every type agree with FILE, MPICH's mpi_abi.h.

The Python that runs it has pympistandard.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADER = Path(__file__).resolve().parent.parent / "include" / "mpi.h"
MODULE = HEADER.parent / "fortran" / "mpi.f90"
F08_MODULE = HEADER.parent / "fortran" / "mpi_f08.f90"

EXPECTED = {
    "MPI_Psend_init": "int count: the erratum to MPI-5.0, which gives the MPI_Count form its own name",
    "MPI_Precv_init": "int count: the erratum to MPI-5.0, which gives the MPI_Count form its own name",
    "MPI_Psend_init_c": "new in the erratum",
    "MPI_Precv_init_c": "new in the erratum",
    "MPI_Pcontrol": "the package prints LaTeX for the variable arguments",
    "MPI_Info_create_env": "the package prints argv one pointer level short",
}
FORTRAN_ABSENT = {"mpi_status_f082f", "mpi_status_f2f08", "mpi_sizeof"}
FORTRAN_EXPECTED = {
    "mpi_abi_get_fortran_booleans": "LOGICAL of any kind: logical_size says of which",
    "mpi_abi_set_fortran_booleans": "LOGICAL of any kind: logical_size says of which",
    "mpi_psend_init": "INTEGER count: the erratum to MPI-5.0, as in C",
    "mpi_precv_init": "INTEGER count: the erratum to MPI-5.0, as in C",
}
SAME_KIND = "MPI_ADDRESS_KIND is MPI_COUNT_KIND, so that there is one form"
F08_EXPECTED = {
    "mpi_file_get_type_extent_c": SAME_KIND,
    "mpi_type_create_resized_c": SAME_KIND,
    "mpi_type_get_extent_c": SAME_KIND,
    "mpi_type_get_true_extent_c": SAME_KIND,
    "mpi_psend_init": "INTEGER count: the erratum to MPI-5.0, as in C",
    "mpi_psend_init_c": "new in the erratum",
    "mpi_precv_init": "INTEGER count: the erratum to MPI-5.0, as in C; the buffer is stored to",
    "mpi_precv_init_c": "new in the erratum",
    "mpi_neighbor_allgatherv_init": "displs are asynchronous, as those of MPI_Ineighbor_allgatherv",
    "mpi_neighbor_allgatherv_init_c": "displs are asynchronous, as those of MPI_Ineighbor_allgatherv",
    "mpi_free_mem": "the memory is freed, so no INTENT(IN)",
    "mpi_get_address": "INTENT(IN): nothing is stored to",
    "mpi_win_detach": "INTENT(IN): nothing is stored to",
}
NOT_IN_ABI = re.compile(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08)$")
TYPES = """MPI_Aint MPI_Offset MPI_Count MPI_Status MPI_Comm MPI_Datatype MPI_Errhandler MPI_File MPI_Group MPI_Info
MPI_Message MPI_Op MPI_Request MPI_Session MPI_Win MPI_T_enum MPI_T_cvar_handle MPI_T_pvar_handle MPI_T_pvar_session
MPI_T_event_registration MPI_T_event_instance MPI_T_cb_safety MPI_T_source_order""".split()


def without_comments(path):
    return re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)


def normal(parameter):
    """A parameter's type alone, with an array as the pointer that it is."""
    parameter = parameter.strip()
    if parameter in ("...", "void"):
        return parameter
    parameter = re.sub(r"\(\*(\w+)\)", r"\1[]", parameter)
    stars = parameter.count("*")
    rows = re.findall(r"\[(\d*)\]", parameter)
    words = re.sub(r"\[\d*\]|\*", " ", parameter).split()
    return (tuple(words[:-1]), stars + bool(rows), tuple(rows[1:]))


def prototypes(text):
    found = {}
    for returns, name, parameters in re.findall(r"^(\w+) (MPI_\w+)\((.*?)\)(?: MPI_ABI_UNREAD\(\d\))?;?$", text, re.M):
        found[name] = (returns, tuple(normal(p) for p in parameters.split(",")))
    return found


def standard_prototypes():
    import pympistandard as standard

    standard.use_api_version()
    lines = []
    for procedure in standard.PROCEDURES.values():
        try:
            lines.append(str(procedure.express.iso_c))
        except Exception:  # Fortran only
            continue
        if procedure.has_embiggenment():
            lines.append(str(procedure.express.embiggen.iso_c))
    text = "\n".join(lines).replace("* ", " *")
    return {name: p for name, p in prototypes(text).items() if not NOT_IN_ABI.search(name)}


def compare_prototypes():
    ours = prototypes(re.sub(r",\s*\n\s+", ", ", without_comments(HEADER)))
    theirs = standard_prototypes()
    if len(theirs) != 662 or len(ours) != 664:
        sys.exit(f"{len(ours)} functions in the header, {len(theirs)} in the standard: expected 664 and 662")
    differences = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    for name in sorted(differences - EXPECTED.keys()):
        print(f"{name}: ours {ours.get(name)}, the standard {theirs.get(name)}")
    for name in sorted(EXPECTED.keys() - differences):
        print(f"{name}: expected to differ, and does not")
    if differences != EXPECTED.keys():
        sys.exit("the header and the standard disagree")
    print(f"prototypes: {len(ours)} checked, {len(differences)} known differences")


def module_interfaces():
    """Of each routine its arguments with their types, from the module; MPI_ names only, and not the forms for TYPE(C_PTR)."""
    text = re.sub(r"&\n\s*", "", MODULE.read_text())
    found = {}
    pattern = r"^ *(?:subroutine|function) (MPI_\w+)\(([^()\n]*)\)[^\n]*\n(.*?)^ *end (?:subroutine|function)$"
    for name, arguments, body in re.findall(pattern, text, re.M | re.S):
        declared = dict(
            (word.split("(")[0].lower(), plain_type(of_type, word))
            for of_type, word in re.findall(r"^ *(\w.*?) :: (.*)$", body, re.M))
        names = [word.strip().lower() for word in arguments.split(",") if word.strip()]
        found[name.lower()] = [(word, declared[word]) for word in names]
    return found


def plain_type(of_type, word):
    """A type and a shape as the standard writes them, without blanks."""
    shape = word[word.index("("):] if "(" in word else ""
    plain = of_type.lower().replace("character(len=*)", "character*(*)").replace("type(*), dimension(*)", "<type>")
    return (plain + shape.lower()).replace(" ", "")


def standard_interfaces():
    import pympistandard as standard

    found = {}
    for procedure in standard.PROCEDURES.values():
        try:
            form = procedure.express.f90
            arguments = [] if form is None else list(form.parameters)
        except Exception:  # C only
            continue
        if form is None:
            continue
        listed = [(argument.name.lower(), plain_type(str(argument.type), str(argument))) for argument in arguments]
        # The shape of a choice argument says nothing.
        found[procedure.name.lower()] = [(name, re.sub(r"^<type>.*", "<type>", kind)) for name, kind in listed]
    return found


def compare_interfaces():
    ours, theirs = module_interfaces(), standard_interfaces()
    differences = {}
    for name in sorted(theirs.keys() - FORTRAN_ABSENT):
        mine = ours.get(name, [("no such routine", "")])
        if mine != theirs[name]:
            differences[name] = (mine, theirs[name])
    for name in sorted(differences.keys() - FORTRAN_EXPECTED.keys()):
        print(f"{name}: ours {differences[name][0]}, the standard {differences[name][1]}")
    for name in sorted(FORTRAN_EXPECTED.keys() - differences.keys()):
        print(f"{name}: expected to differ in Fortran, and does not")
    if differences.keys() != FORTRAN_EXPECTED.keys():
        sys.exit("the module mpi and the standard disagree")
    print(f"interfaces: {len(theirs)} checked, {len(differences)} known differences")


def f08_interfaces(text):
    """Of each specific procedure its arguments with types and attributes; MPI_ names only."""
    text = re.sub(r"&\n\s*", "", text)
    found = {}
    pattern = r"^ *(?:subroutine|function) (MPI_\w+)_f08(?:ts)?\((.*?)\)[^\n]*\n(.*?)^ *end (?:subroutine|function)$"
    for name, arguments, body in re.findall(pattern, text, re.M | re.S):
        found[name.lower()] = f08_arguments(arguments, body)
    return found


def f08_arguments(arguments, body):
    declared = {}
    for of_type, words in re.findall(r"^\s*(\w.*?) :: (.*)$", body, re.M):
        for word in re.findall(r"\w+(?:\([^)]*\))?", words):
            name, _, shape = word.lower().partition("(")
            # An explicit shape says no more to a caller than that it is an array; a longer string is taken as well.
            rank = shape.count(",") + 1 if shape else 0
            attributes = re.sub(r"character\(len=\w+\)", "character(len=*)", of_type.lower().replace(" ", ""))
            first, *others = re.split(r",(?![^(]*\))", attributes)
            declared[name] = (first, *sorted(others), rank)
    names = [word.strip().lower() for word in arguments.split(",") if word.strip()]
    return [(name, *declared[name]) for name in names]


def standard_f08_interfaces():
    import pympistandard as standard

    standard.use_api_version()
    found = {}

    def add(name, form):
        head, *body = str(form).split("\n")
        found[name.lower()] = f08_arguments(re.search(r"MPI_\w+\((.*)\)", head)[1], "\n".join(body))

    for procedure in standard.PROCEDURES.values():
        try:
            form = procedure.express.f08
        except Exception:  # C only
            continue
        if form is None:
            continue
        add(procedure.name, form)
        if procedure.has_embiggenment():
            add(f"{procedure.name}_c", procedure.express.embiggen.f08)
    return found


def compare_f08():
    ours, theirs = f08_interfaces(F08_MODULE.read_text()), standard_f08_interfaces()
    differences = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    for name in sorted(differences - F08_EXPECTED.keys()):
        for mine, other in zip(ours.get(name, [("none",)]) + [()] * 9, theirs.get(name, [("none",)])):
            if mine != other:
                print(f"{name}: ours {mine}, the standard {other}")
    for name in sorted(F08_EXPECTED.keys() - differences):
        print(f"{name}: expected to differ in mpi_f08, and does not")
    if differences != F08_EXPECTED.keys():
        sys.exit("the module mpi_f08 and the standard disagree")
    print(f"mpi_f08: {len(theirs)} checked, {len(differences)} known differences")


def callbacks(path):
    text = re.sub(r"\s+", " ", without_comments(path))
    found = {}
    for returns, name, parameters in re.findall(r"typedef (\w+) \( ?(MPI_\w+) ?\) ?\(([^)]*)\);", text):
        found[name] = (returns, tuple(normal(p) for p in parameters.split(",")))
    return found


def compare_callbacks(peer):
    ours, theirs = callbacks(HEADER), callbacks(peer)
    differences = [n for n in sorted(ours.keys() | theirs.keys()) if ours.get(n) != theirs.get(n)]
    if differences or not ours:
        sys.exit(f"callback types that differ from {peer.name}: {differences}")
    print(f"callbacks: {len(ours)} types agree with {peer.name}")


def constant_names(path):
    text = without_comments(path)
    return set(re.findall(r"^#define\s+(MPI_\w+)[ \t]+\S", text, re.M)) | set(re.findall(r"^\s+(MPI_\w+)\s*=", text, re.M))


def probe(header, names, directory):
    """What a C program sees: name=value for constants, name=size/alignment for types."""
    source = directory / "probe.c"
    program = directory / "probe"
    lines = [f'    printf("{name}=%lld\\n", (long long)(intptr_t){name});' for name in sorted(names)]
    lines += [f'    printf("{t}=%zu/%zu\\n", sizeof({t}), _Alignof({t}));' for t in TYPES]
    fields = "MPI_SOURCE MPI_TAG MPI_ERROR MPI_internal".split()
    lines += [f'    printf("{f}=%zu\\n", offsetof(MPI_Status, {f}));' for f in fields]
    body = "\n".join(lines)
    source.write_text(f'#include <stdio.h>\n#include <stddef.h>\n#include "{header}"\nint main(void) {{\n{body}\n}}\n')
    subprocess.run(["gcc", "-std=c11", "-o", str(program), str(source)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()


def compare_values(peer):
    # What the peer defines for itself: its include guard and the types that a user may override.
    own = {"MPI_H_ABI", "MPI_ABI_Aint", "MPI_ABI_Offset", "MPI_ABI_Count"}
    names = constant_names(HEADER)
    missing = constant_names(peer) - own - names
    if missing:
        sys.exit(f"constants of {peer.name} that mpi.h lacks: {sorted(missing)}")
    with tempfile.TemporaryDirectory() as directory:
        ours, theirs = (probe(header, names, Path(directory)) for header in (HEADER, peer))
    differences = [f"{a}, not {b}" for a, b in zip(ours, theirs) if a != b]
    if differences:
        sys.exit("\n".join(differences))
    print(f"values: {len(names)} constants and {len(TYPES)} types agree with {peer.name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", type=Path, required=True, help="MPICH's mpi_abi.h")
    peer = parser.parse_args().peer.resolve()
    compare_prototypes()
    compare_interfaces()
    compare_f08()
    compare_callbacks(peer)
    compare_values(peer)


main()
