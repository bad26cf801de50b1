//! `mpiexec`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_mpiexec::main()
}
