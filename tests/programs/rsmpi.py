"""The crate `mpi` (rsmpi), MPI for programs in Rust: its own examples, which assert what they receive."""

from workshop import Failed

NAME = "rsmpi"
VERSION = "0.8.2"
LEFT_OUT = {
    "spawn": "dynamic processes are not implemented",
    "spawn_multiple": "dynamic processes are not implemented",
    "derive_nonthreaded_panic": "asserts that MPI_Init_thread gives no more than was asked for, which it may (MPI-5.0 §11.6.2)",
}
# How many ranks an example takes for granted: it divides their number by 4, asserts that it is not alone, or tells what
# it sent from what it received by the rank.
NEEDS = {"cartesian_map": 4, "all_gather_bool": 2, "immediate_multiple_requests": 2}


def build(workshop):
    """Its build script asks `mpicc -show`, and reads mpi.h with bindgen."""
    source = workshop.crate_source("mpi", VERSION)
    command = ["cargo", "build", "--quiet", f"-j{workshop.jobs}", "-p", "mpi", "--examples", "--features", "derive,complex"]
    own = {"CARGO_TARGET_DIR": str(source.parent / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    workshop.command(command, source.parent, "rsmpi.log", **own)
    return source, VERSION


def run(workshop, source, ranks):
    found = sorted(path.stem for path in (source / "examples").glob("*.rs"))
    names = [name for name in found if name not in LEFT_OUT and NEEDS.get(name, 1) <= ranks]
    failures = []
    for name in names:
        try:
            workshop.launch(ranks, [source.parent / "target/debug/examples" / name], source)
        except Failed as failed:
            failures.append(f"{name}: {failed}")
    if failures or not names:
        raise Failed(f"{len(failures)} of {len(names)} examples:\n" + "\n".join(failures))
    return f"{len(names)} of its {len(found)} examples; not {', '.join(sorted(set(found) - set(names)))}"
