//! No compiler warns of mpi.h, nor of a call that is right: one program hands every constant of a pointer's type to every
//! parameter that its type fits, and an array of no elements to every parameter that takes one.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::thread;

use weft_abi::table::{self, CType, Function, Value};

use crate::root::root;

/// What a program may also do: define a function as the standard prints it, and name buffers that have no values yet.
const BY_HAND: &str = "
int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    return PMPI_Waitall(count, array_of_requests, array_of_statuses);
}
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return PMPI_Group_range_incl(group, n, ranges, newgroup);
}
MPI_Fint of_fortran(MPI_Comm comm, MPI_Status *status, MPI_Fint *old, MPI_F08_status *typed);
MPI_Fint of_fortran(MPI_Comm comm, MPI_Status *status, MPI_Fint *old, MPI_F08_status *typed)
{
    int ignored = old == MPI_F_STATUS_IGNORE || old == MPI_F_STATUSES_IGNORE;
    if (ignored || typed == MPI_F08_STATUS_IGNORE || typed == MPI_F08_STATUSES_IGNORE)
        return MPI_Comm_c2f(comm);
    MPI_Status_c2f(status, old);
    PMPI_Status_f2f08(old, typed);
    PMPI_Status_f082c(typed, status);
    return PMPI_Comm_c2f(MPI_Comm_f2c(0));
}
struct particle { int kind; double place[3]; };
void without_values(MPI_Comm comm, MPI_File file, MPI_Request *request, MPI_Aint *address);
void without_values(MPI_Comm comm, MPI_File file, MPI_Request *request, MPI_Aint *address)
{
    struct particle particle;
    int message[4], operand[4], result[4], written[4];
    MPI_Get_address(&particle, &address[0]);
    MPI_Get_address(&particle.place, &address[1]);
    MPI_Send_init(message, 4, MPI_INT, 0, 0, comm, &request[0]);
    MPI_Allreduce_init(operand, result, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request[1]);
    MPI_File_write_all_end(file, written, MPI_STATUS_IGNORE);
}
";

const EVERYWHERE: [&str; 8] = [
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wredundant-decls",
    "-Wundef",
    "-pedantic",
];
const C: [&str; 4] = [
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wbad-function-cast",
    "-Wc++-compat",
];
const CXX: [&str; 2] = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant"];
/// The standards, and what a compiler does by each: what comes of accesses it says while it makes code, what is wrong with
/// a cast or a declaration before. The former takes a second or two.
const C_STANDARDS: [(&str, &str); 7] = [
    ("c90", "-O0"),
    ("c99", CHECK),
    ("c11", CHECK),
    ("c17", CHECK),
    ("c2x", CHECK),
    ("gnu90", CHECK),
    ("gnu17", "-O2"),
];
const CXX_STANDARDS: [(&str, &str); 7] = [
    ("c++98", CHECK),
    ("c++03", CHECK),
    ("c++11", CHECK),
    ("c++14", CHECK),
    ("c++17", CHECK),
    ("c++20", CHECK),
    ("c++23", "-O2"),
];
const CHECK: &str = "-fsyntax-only";

/// A type as constants have it: `MPI_Status*`, `int*`, `MPI_Comm`.
fn plain(of: CType) -> String {
    let stars = of.pointers + usize::from(!of.array.is_empty()).max(usize::from(of.function));
    let row = of.array.trim_start_matches("[]");
    format!("{}{}{row}", of.base, "*".repeat(stars))
}

/// The constants of a type that is a pointer, which handles are too.
fn constants(wanted: &str) -> Vec<String> {
    let all = table::sections()
        .iter()
        .flat_map(|section| &section.constants);
    let fit = all.filter(|constant| match constant.value {
        Value::Of { c_type, .. } => c_type != "int" && c_type == wanted,
        Value::Alias(_) => false,
    });
    fit.map(|constant| format!("MPI_{}", constant.name))
        .collect()
}

/// Where an argument lies that is no constant.
fn declaration(of: CType, name: &str) -> String {
    let base = if of.base == "void" { "char" } else { of.base };
    let stars = "*".repeat(of.pointers);
    match of.array.strip_prefix("[]") {
        _ if of.function => format!("{base} *{name}"),
        Some(row) => format!("{base} {stars}{name}[1]{row}"),
        None if of.pointers > 0 => format!("{base} {}{name}[1]", &stars[1..]),
        None => format!("{base} {name}"),
    }
}

/// A function of the program, with calls of one of MPI's.
fn calls(function: &Function, large: bool) -> String {
    let parameters = function
        .parameters(large)
        .filter(|parameter| !parameter.is_varargs());
    let types: Vec<CType> = parameters
        .map(|parameter| parameter.c_type(large))
        .collect();
    let fitting: Vec<Vec<String>> = types.iter().map(|of| constants(&plain(*of))).collect();
    let name = function.c_name(large);
    let variables: Vec<String> = (0..types.len()).map(|at| format!("{name}_{at}")).collect();
    let mut text = String::new();
    for (of, variable) in types.iter().zip(&variables) {
        text += &format!("extern {};\n", declaration(*of, variable));
    }
    text += &format!("void calls_{name}(void);\nvoid calls_{name}(void)\n{{\n");
    // Handles have many constants, which alternate.
    let pointers = fitting
        .iter()
        .zip(&types)
        .filter(|(_, of)| plain(**of).ends_with('*'));
    let rounds = pointers
        .map(|(constants, _)| constants.len())
        .max()
        .unwrap_or(0)
        .max(1);
    for round in 0..=rounds {
        let arguments = types.iter().zip(&fitting).zip(&variables).map(
            |((of, fitting), variable)| match fitting.get(round % fitting.len().max(1)) {
                _ if round == rounds && !of.array.is_empty() => format!("{variable} + 1"),
                Some(constant) => constant.clone(),
                None => variable.clone(),
            },
        );
        text += &format!(
            "    {name}({});\n",
            arguments.collect::<Vec<_>>().join(", ")
        );
    }
    text + "}\n"
}

fn program() -> String {
    let mut text = String::from("#include <mpi.h>\n");
    for function in table::chapters()
        .iter()
        .flat_map(|chapter| &chapter.functions)
    {
        text += &calls(function, false);
        if function.has_large() {
            text += &calls(function, true);
        }
    }
    text + BY_HAND
}

/// What a compiler says of the program, by each way of calling it.
fn compile(source: &Path, ways: &[String]) -> Vec<String> {
    let said = ways.iter().filter_map(|way| {
        let mut words = way.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command
            .args(EVERYWHERE)
            .args(words)
            .arg("-Werror")
            .arg("-I")
            .arg(root().join("include"));
        let output = command
            .args(["-c", "-o", "/dev/null"])
            .arg(source)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (!output.status.success()).then(|| format!("{way}:\n{}", &text[..text.len().min(2000)]))
    });
    said.collect()
}

fn ways() -> Vec<String> {
    let way = |compiler, (standard, level), flags: &[&str]| {
        format!("{compiler} {level} -std={standard} {}", flags.join(" "))
    };
    let mut ways = Vec::new();
    ways.extend(C_STANDARDS.map(|standard| way("gcc -xc", standard, &C)));
    ways.extend(CXX_STANDARDS.map(|standard| way("g++ -xc++", standard, &CXX)));
    ways
}

#[test]
fn no_right_call_is_warned_of() {
    let source = env::temp_dir().join(format!("weft-xtask-header-{}.c", process::id()));
    fs::write(&source, program()).unwrap();
    let ways = ways();
    let (one, other) = ways.split_at(ways.len() / 2);
    let said = thread::scope(|scope| {
        let other = scope.spawn(|| compile(&source, other));
        let mut said = compile(&source, one);
        said.extend(other.join().unwrap());
        said
    });
    fs::remove_file(&source).unwrap();
    assert!(said.is_empty(), "{}", said.join("\n"));
}
