"""Programs of other people, as they are built, one a row: packages, with which library, what is run, and what its outcome is judged by."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """Commands are run in a folder of their own, which `files` are copied to; `before` and `after` without mpiexec, by a shell."""

    name: str
    family: str
    packages: tuple
    command: tuple
    # Expressions: what our run has to print, and what has to be the same by the program's own library, numbers but for rounding.
    says: tuple = ()
    same: tuple = ()
    files: tuple = ()
    before: tuple = ()
    after: tuple = ()
    # Of which the lines come in any order.
    in_any_order: bool = False
    # By how much of itself a number may differ: sums of the same terms in another order.
    tolerance: float = 1e-6
    # Of the environment of both runs.
    variables: tuple = ()
    # Of ranks, where not all numbers do.
    ranks: tuple = ()


STARPU = "/usr/lib/x86_64-linux-gnu/starpu/mpi"
IMB = "{peers}/intel/bin/IMB-"
NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"


def imb(suite, *options, packages=(), variables=()):
    """One of Intel's benchmarks, whose timings are not compared, but which of them ran, of how many processes and lengths."""
    short = ("-iter", "20", "-time", "0.2", "-msglog", "0:14")
    same = (r"^# Benchmarking (\S+)", r"^# #processes = (\d+)")
    return Program(f"imb-{suite.lower()}", "intel", packages, (IMB + suite, *(options or short)), same=same, variables=variables)


def gromacs(program, tolerance):
    """A thousand atoms of argon: in single precision, and in double."""
    lattice = (
        "awk 'BEGIN {{ print \"Argon\"; print 1000; for (i = 0; i < 1000; i++) printf \"%5dAr      Ar%5d%8.3f%8.3f%8.3f\\n\", i + 1, i + 1,"
        " 0.1 + 0.362 * (i % 10), 0.1 + 0.362 * (int(i / 10) % 10), 0.1 + 0.362 * int(i / 100); print \"3.62 3.62 3.62\" }}' >argon.gro"
    )
    return Program(
        f"gromacs-{program}", "openmpi", ("gromacs",), (program, "mdrun", "-s", "argon.tpr", "-ntomp", "1", "-reprod"),
        files=("argon.mdp", "argon.top"),
        before=(lattice, "gmx grompp -f argon.mdp -c argon.gro -p argon.top -o argon.tpr -maxwarn 2"),
        after=("sed -n '/A V E R A G E S/,/Total Virial/p' md.log",),
        same=(rf"^ +({NUMBER}(?: +{NUMBER})+)$",),
        tolerance=tolerance,
    )


def starpu(program, same=r"^(?:OUT|\[node).*"):
    """One of StarPU's examples, on a worker for each rank."""
    variables = ("STARPU_NCPU=1", "STARPU_SILENT=1", "STARPU_HOME=/tmp", "STARPU_MAIN_THREAD_CPUID=0")
    command = ("env", *variables, f"{STARPU}/{program}")
    same = (same,) if same else ()
    return Program(f"starpu-{program}", "openmpi", ("starpu-examples",), command, same=same, in_any_order=True)


def python(name, file, *packages, same=r"^\w+ .*$", ranks=()):
    """A script on Debian's Python."""
    return Program(name, "openmpi", packages, ("/usr/bin/python3", file), files=(file,), same=(same,), ranks=ranks)


PROGRAMS = [
    Program(
        "hpcc", "openmpi", ("hpcc",), ("hpcc",),
        # HPL's matrix, its blocks, and the grid of processes.
        before=("sed -e '6s/^/400 /' -e '8s/^/32 /' -e '11s/^/1 /' -e '12s/^/{ranks} /' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt",),
        after=("cat hpccoutf.txt",),
        says=(r"^Success=1$", r"\|\|Ax-b\|\|_oo/.*PASSED", r"0 tests completed and failed residual checks", r"^MPIRandomAccess_Errors=0$"),
        same=(r"^CommWorldProcs=(\d+)$", r"^HPL_N=(\S+)$", r"^MPIRandomAccess_N=(\S+)$", r"^MPIFFT_N=(\S+)$"),
    ),
    Program(
        "lammps", "openmpi", ("lammps", "lammps-examples"),
        ("lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none"),
        same=(rf"^ +(?:0|50|100) +({NUMBER}(?: +{NUMBER}){{4}}) *$",),
    ),
    Program(
        "lammps-rigid", "openmpi", ("lammps", "lammps-examples"),
        ("lmp", "-in", "/usr/share/lammps/examples/peptide/in.peptide", "-log", "none"),
        before=("cp /usr/share/lammps/examples/peptide/data.peptide .",),
        same=(rf"^(?:TotEng|PotEng|E_bond|E_coul|E_vdwl) +=.*",),
    ),
    gromacs("gmx_mpi", 1e-4),
    gromacs("gmx_mpi_d", 1e-9),
    Program("netpipe-openmpi", "openmpi", ("netpipe-openmpi",), ("NPopenmpi", "-i", "-u", "65536"), says=(r"Integrity check passed",), ranks=(2,)),
    Program("netpipe-mpich", "mpich", ("netpipe-mpich2",), ("NPmpich2", "-i", "-u", "65536"), says=(r"Integrity check passed",), ranks=(2,)),
    imb("MPI1"),
    imb("NBC"),
    imb("RMA"),
    # It is linked with Intel's OpenMP, which LLVM's is by another name.
    imb(
        "MT", "-thread_level", "multiple", "-check", "on", "-count", "1,1000", "-repeat", "20",
        packages=("libomp-14-dev",), variables=(("LD_LIBRARY_PATH", "/usr/lib/llvm-14/lib"), ("OMP_NUM_THREADS", "2")),
    ),
    imb("P2P", "PingPong", "BirandomPingPong", "Corandom", "Stencil2D", "-iter", "100,10", "-msglog", "0:12"),
    starpu("cache", ""),
    starpu("filter"),
    starpu("mm", ""),
    starpu("mpi_cholesky", r"^size: .*$"),
    starpu("mpi_complex"),
    starpu("stencil5", ""),
    starpu("user_datatype"),
    Program(
        "ptscotch", "openmpi", ("ptscotch", "scotch"), ("dgord", "grid.grf", "grid.ord"),
        before=("gmk_m2 40 30 grid.grf",),
        after=("gotst grid.grf grid.ord",),
        says=(r"^O\tNNZ=",),
    ),
    Program(
        "pnetcdf", "openmpi", ("pnetcdf-bin",), ("ncmpigen", "-o", "a.nc", "-v", "5", "a.cdl"), files=("a.cdl",),
        after=("ncmpidump a.nc", "ncvalidator a.nc"), same=(r"^.*$",),
    ),
    Program(
        "pnetcdf-diff", "openmpi", ("pnetcdf-bin",), ("ncmpidiff", "a.nc", "a.nc"), files=("a.cdl",),
        before=("ncmpigen -o a.nc a.cdl",), same=(r"^.*$",),
    ),
    python("mpi4py", "everything.py", "python3-mpi4py"),
    python("h5py", "h5py_files.py", "python3-h5py-mpi", "python3-mpi4py"),
    Program(
        "rmpi", "openmpi", ("r-cran-rmpi", "r-base-core", "libopenmpi-dev"), ("Rscript", "collective.R"), files=("collective.R",),
        same=(r"^\w+:.*$",), variables=(("R_LD_LIBRARY_PATH", "/usr/lib/R/lib"),),
    ),
    python("boost-mpi-python", "boost_mpi.py", "libboost-mpi-python1.74.0"),
    Program(
        "ray", "openmpi", ("ray",), ("Ray", "-k", "31", "-p", "ecoli_1K_1.fq", "ecoli_1K_2.fq", "-o", "assembled"),
        before=("cp /usr/share/doc/ray/test_data/*.fq.gz . && gunzip *.gz",),
        after=("cat assembled/Contigs.fasta assembled/OutputNumbers.txt",),
        same=(r"^[ACGT]+$", r"^ \w.*: \d+$"),
    ),
    Program(
        "iqtree", "openmpi", ("iqtree",), ("iqtree2-mpi", "-s", "example.phy", "-m", "GTR+G", "-seed", "7", "-nt", "1", "-n", "10"),
        before=("cp /usr/share/doc/iqtree/examples/example.phy .",),
        same=(r"^Log-likelihood of the tree: (\S+)", r"^BEST SCORE FOUND : (\S+)"),
        after=("cat example.phy.iqtree",),
    ),
    Program("parform", "openmpi", ("form",), ("parform", "sum.frm"), files=("sum.frm",), same=(r"^ +\+ .*$", r"^ +(?:Terms|Bytes).*=.*$")),
    Program(
        "music", "openmpi", ("music-bin",), ("music", "wave.music"), files=("wave.music",), after=("cat dumpfile*",), same=(r"^.*\d.*$",), ranks=(4,),
    ),
]
