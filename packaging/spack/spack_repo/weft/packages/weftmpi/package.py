"""WeftMPI for Spack 1.0 or later, from the repository that this recipe lies in (docs/installing.md)."""

import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *

CHECKOUT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), *[os.pardir] * 6))
WRAPPERS = {"MPICC": "mpicc", "MPICXX": "mpicxx", "MPIF77": "mpif77", "MPIF90": "mpif90"}


class Weftmpi(MakefilePackage):
    """An MPI library for MPI+threads with the standard ABI of MPI-5.0."""

    git = "file://" + CHECKOUT

    license("BSD-3-Clause", checked_by="the authors")

    version("main", branch="main")

    provides("mpi@:5.0")
    provides("mpi-abi")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")
    depends_on("gmake", type="build")
    # install.sh sets the symbols apart by objcopy.
    depends_on("binutils", type="build")

    requires("platform=linux", msg="WeftMPI runs on Linux")
    requires("target=x86_64:", msg="WeftMPI runs on x86-64")

    executables = ["^mpiexec$"]

    @classmethod
    def determine_version(cls, exe):
        output = Executable(exe)("--version", output=str, error=str)
        return output.split()[-1] if "WeftMPI" in output else None

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        # What cargo fetches stays with the build.
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))

    def build(self, spec: Spec, prefix: Prefix) -> None:
        make("build")

    def install(self, spec: Spec, prefix: Prefix) -> None:
        make("install", f"PREFIX={prefix}")

    @property
    def libs(self):
        parameters = self.spec.last_query.extra_parameters
        names = ["libmpi_abi"]
        if "fortran" in parameters:
            names.insert(0, "libmpifort_abi")
        return find_libraries(names, root=self.prefix.lib, shared=True, recursive=False)

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        for variable, wrapper in WRAPPERS.items():
            env.set(variable, join_path(self.prefix.bin, wrapper))

    def setup_dependent_build_environment(
        self, env: EnvironmentModifications, dependent_spec: Spec
    ) -> None:
        # Behind the wrappers of MPI stand Spack's of the compilers.
        dependent_module = dependent_spec.package.module
        for variable, name in (("WEFT_CC", "spack_cc"), ("WEFT_CXX", "spack_cxx"), ("WEFT_FC", "spack_fc")):
            if hasattr(dependent_module, name):
                env.set(variable, getattr(dependent_module, name))

    def setup_dependent_package(self, module, dependent_spec: Spec) -> None:
        self.spec.mpicc = join_path(self.prefix.bin, WRAPPERS["MPICC"])
        self.spec.mpicxx = join_path(self.prefix.bin, WRAPPERS["MPICXX"])
        self.spec.mpifc = join_path(self.prefix.bin, WRAPPERS["MPIF90"])
        self.spec.mpif77 = join_path(self.prefix.bin, WRAPPERS["MPIF77"])
