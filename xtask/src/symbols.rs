//! `cargo xtask symbols`: what libmpi_abi.so, libmpifort_abi.so and the libraries of other ABIs export and need.
//!
//! Of the first exactly the ABI's MPI_ and PMPI_ names, each pair one address, and the one name that the second asks for; of
//! the second what the modules and `mpif.h` name; of the others their ABI's names. The SONAMEs are the ABIs'; nothing is
//! needed but the C library's own parts.

mod c;
mod families;
mod fortran;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root::root;

/// Complaints shown of one library.
const SHOWN: usize = 20;
const FORTRAN: &str = "libmpifort_abi.so";
const MPICH: &str = "libweft_mpich.so";
const OPENMPI: &str = "libweft_openmpi.so";
const MPICH_FORTRAN: &str = "libweft_mpich_fortran.so";
const OPENMPI_FORTRAN: &str = "libweft_openmpi_fortran.so";

pub fn run(library: Option<&Path>) -> Result<(), String> {
    if let Some(library) = library {
        return check(library);
    }
    check(&release_library("libmpi_abi.so"))?;
    check(&release_library(FORTRAN))?;
    check(&release_library(MPICH))?;
    check(&release_library(OPENMPI))?;
    check(&release_library(MPICH_FORTRAN))?;
    check(&release_library(OPENMPI_FORTRAN))
}

/// Checks a library as the one that its name says it is.
fn check(library: &Path) -> Result<(), String> {
    let path = library.to_string_lossy();
    let listing = output("nm", &["-D", "--defined-only", &path])?;
    let symbols = exported(&listing);
    let dynamic = output("readelf", &["-dW", &path])?;
    // Installed it has the ABI's version behind its name.
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let complaints = match &*name {
        name if name.starts_with(FORTRAN) => fortran::complaints(&symbols, &dynamic),
        MPICH_FORTRAN | "libmpifort.so.12" => fortran::MPICH.complaints(&symbols, &dynamic),
        OPENMPI_FORTRAN | "libmpi_mpifh.so.40" => fortran::OPENMPI.complaints(&symbols, &dynamic),
        MPICH | "libmpi.so.12" => families::MPICH.complaints(&symbols, &dynamic),
        OPENMPI | "libmpi.so.40" => families::OPENMPI.complaints(&symbols, &dynamic),
        _ => c::complaints(&symbols, &dynamic),
    };
    if complaints.is_empty() {
        println!(
            "{path}: {} names, every MPI_ one the alias of its PMPI_ twin",
            symbols.len()
        );
        return Ok(());
    }
    let shown = &complaints[..complaints.len().min(SHOWN)];
    let more = complaints.len() - shown.len();
    let more = if more > 0 {
        format!("\n  and {more} more")
    } else {
        String::new()
    };
    Err(format!("{path}:\n  {}{more}", shown.join("\n  ")))
}

fn release_library(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release").join(name)
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program} (Debian package binutils): {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Name and address of every dynamic symbol, from `nm -D`.
fn exported(nm: &str) -> BTreeMap<&str, &str> {
    let fields = nm
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields
        .filter_map(|fields| match fields[..] {
            [address, _kind, name] => Some((name, address)),
            _ => None,
        })
        .collect()
}
