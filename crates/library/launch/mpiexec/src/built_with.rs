//! With which MPI library a program was built, as its file says (ELF), and what has it run on this one.
//!
//! Beside `bin`, where mpiexec is, lies `lib/compat` with a folder of libraries for each family of other libraries
//! (docs/compatibility.md). The dynamic linker finds them by `LD_LIBRARY_PATH`: MPICH's behind all that the user has there, for
//! such a library knows mpiexec's protocol; Open MPI's before that, for its own would start each rank as a job of its own. It looks
//! there before a program's RUNPATH and the system's folders, but not before an RPATH: there the library is loaded first of all,
//! by `LD_PRELOAD`, and stands for any of its name. A program that says nothing of MPI may load it later, as Python does: it
//! has all folders to look in.

use crate::{hindrance, program};
use elf::ElfStream;
use elf::abi::{DT_NEEDED, DT_RPATH, DT_RUNPATH, PT_INTERP};
use elf::endian::AnyEndian;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

pub use crate::program::Unusable;

/// Variables, and what they are set to.
pub type Settings = Vec<(OsString, OsString)>;

/// Libraries with one ABI: the folder of ours for them, the names of ours for C and Fortran, and those and others by which
/// programs ask for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    folder: &'static str,
    libraries: [&'static str; 2],
    names: &'static [&'static str],
    title: &'static str,
}

const MPICH: Family = Family {
    folder: "mpich",
    libraries: ["libmpi.so.12", "libmpifort.so.12"],
    names: &[
        "libmpi.so.12",
        "libmpich.so.12",
        "libmpifort.so.12",
        "libmpichfort.so.12",
    ],
    title: "MPICH",
};

const OPENMPI: Family = Family {
    folder: "openmpi",
    libraries: ["libmpi.so.40", "libmpi_mpifh.so.40"],
    names: &[
        "libmpi.so.40",
        "libmpi_mpifh.so.40",
        "libmpi_usempi_ignore_tkr.so.40",
        "libmpi_usempif08.so.40",
    ],
    title: "Open MPI",
};

/// What a program's file says of MPI.
#[derive(Debug, PartialEq, Eq)]
pub enum BuiltWith {
    /// Nothing, or that it was built for the standard ABI.
    Unsaid,
    /// A library in whose place there is one of ours.
    Family { family: Family, has_rpath: bool },
    /// MPICH, and it needs what ours does not have: its own library runs it, for that knows this launcher's protocol.
    OwnMpich,
    /// Another one, which would start each rank as a job of its own: what it needs, in words.
    Another(String),
}

/// What the dynamic section of a program tells.
#[derive(Debug, Default)]
struct Told {
    needed: Vec<String>,
    has_rpath: bool,
    has_runpath: bool,
    /// Names that it uses and others define.
    used: Vec<String>,
}

/// Open MPI's and MPICH's names before the present ones, and Intel's.
const OTHERS: [(&str, &str); 9] = [
    ("libmpi.so.0", "Open MPI 1.4 or earlier"),
    ("libmpi.so.1", "Open MPI 1.5 to 1.8"),
    ("libmpi.so.20", "Open MPI 2 or 3"),
    ("libmpich.so.1", "MPICH2"),
    ("libmpich.so.3", "MPICH2 1.3 or 1.4"),
    ("libmpich.so.8", "MPICH2 1.5"),
    ("libmpich.so.10", "MPICH 3.0"),
    ("libmpi.so.4", "Intel MPI 4"),
    ("libmpi_mt.so.4", "Intel MPI 4"),
];

/// Reads the program at `path`. What cannot be read, or is no program of this kind, says nothing.
pub fn read(path: &Path) -> BuiltWith {
    match told(path) {
        Some(told) => told.judge(),
        None if is_static(path) && hindrance::has_open_mpi_inside(path) => {
            BuiltWith::Another("Open MPI inside, as a static program".to_owned())
        }
        None => BuiltWith::Unsaid,
    }
}

/// Whether no dynamic linker is asked to start the program.
fn is_static(path: &Path) -> bool {
    let file = File::open(path).ok();
    let file = file.and_then(|file| ElfStream::<AnyEndian, _>::open_stream(file).ok());
    let segments = file.as_ref().map(ElfStream::segments);
    segments.is_some_and(|segments| segments.iter().all(|one| one.p_type != PT_INTERP))
}

fn told(path: &Path) -> Option<Told> {
    let mut file = ElfStream::<AnyEndian, _>::open_stream(File::open(path).ok()?).ok()?;
    let entries: Vec<(i64, u64)> = {
        let dynamic = file.dynamic().ok()??;
        dynamic
            .iter()
            .map(|entry| (entry.d_tag, entry.d_val()))
            .collect()
    };
    let (symbols, strings) = file.dynamic_symbol_table().ok()??;
    let string = |offset: usize| strings.get(offset).ok().map(str::to_owned);
    let has = |tag: i64| entries.iter().any(|entry| entry.0 == tag);
    let needed = entries.iter().filter(|entry| entry.0 == DT_NEEDED);
    Some(Told {
        needed: needed
            .filter_map(|entry| string(entry.1 as usize))
            .collect(),
        has_rpath: has(DT_RPATH),
        has_runpath: has(DT_RUNPATH),
        used: symbols
            .iter()
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| string(symbol.st_name as usize))
            .collect(),
    })
}

impl Told {
    fn judge(&self) -> BuiltWith {
        let needs = |library: &str| self.needed.iter().any(|name| name == library);
        let needs_one_of = |family: Family| family.names.iter().any(|name| needs(name));
        let uses = |wanted: fn(&str) -> bool| self.used.iter().any(|name| wanted(name));
        if let Some((library, title)) = OTHERS.iter().find(|(library, _)| needs(library)) {
            return BuiltWith::Another(format!("{title} ({library})"));
        }
        // Open MPI 1.10 had the name that is MPICH's.
        let is_mpich = needs_one_of(MPICH);
        let beyond = match () {
            _ if is_mpich && uses(is_of_cxx) => Some("in C++"),
            _ if uses(is_given_functions_of_cxx) => {
                Some("with functions in C++ for attributes, errors or data representations")
            }
            _ => None,
        };
        if is_mpich && uses(|name| name.starts_with("ompi_")) {
            return BuiltWith::Another(format!("Open MPI 1.10 ({})", MPICH.libraries[0]));
        }
        let has_rpath = self.has_rpath && !self.has_runpath;
        match (is_mpich, needs_one_of(OPENMPI), beyond) {
            (true, true, _) => BuiltWith::Another("two MPI libraries at once".to_owned()),
            (true, _, Some(_)) => BuiltWith::OwnMpich,
            (_, true, Some(what)) => BuiltWith::Another(format!("{} {what}", OPENMPI.title)),
            (true, ..) => BuiltWith::Family {
                family: MPICH,
                has_rpath,
            },
            (_, true, _) => BuiltWith::Family {
                family: OPENMPI,
                has_rpath,
            },
            _ => match self.unknown() {
                Some(library) => {
                    BuiltWith::Another(format!("an MPI library that is not known ({library})"))
                }
                None => BuiltWith::Unsaid,
            },
        }
    }

    /// The library that MPI's names are asked of, where it is none of those that are known by name.
    fn unknown(&self) -> Option<&String> {
        const BEGINNINGS: [&str; 3] = ["MPI_Init", "MPI_Init_thread", "mpi_init_"];
        let begins = |name: &String| BEGINNINGS.contains(&name.as_str());
        let is_ours =
            |name: &str| name.starts_with("libmpi_abi.") || name.starts_with("libmpifort_abi.");
        let is_mpi = |name: &str| {
            let rest = name.strip_prefix("libmpi").unwrap_or("profiler");
            rest.starts_with(['.', '_']) || rest.starts_with("ch")
        };
        let mut libraries = self.needed.iter().filter(|name| is_mpi(name));
        match self.used.iter().any(begins) && !self.needed.iter().any(|name| is_ours(name)) {
            true => libraries.next(),
            false => None,
        }
    }
}

/// A member of the namespace `MPI`.
fn is_of_cxx(name: &str) -> bool {
    ["_ZN3MPI", "_ZNK3MPI", "_ZTVN3MPI", "_ZTIN3MPI"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// What takes functions of the program's, in the C++ bindings of Open MPI.
fn is_given_functions_of_cxx(name: &str) -> bool {
    let members = ["do_create_keyval", "Create_errhandler", "Register_datarep"];
    is_of_cxx(name) && members.iter().any(|member| name.contains(member))
}

/// What is set for the program at `path` by this mpiexec, or why it cannot run.
pub fn libraries(
    path: &Path,
    value: impl Fn(&str) -> Option<OsString>,
) -> Result<Settings, String> {
    let built_with = read(path);
    let mpiexec = std::env::current_exe().unwrap_or_default();
    match why_not(&built_with, path, &mpiexec, &value) {
        Some(why) => Err(why),
        None => Ok(settings(&built_with, &mpiexec, value)),
    }
}

/// Why a program cannot run on this library.
fn why_not(
    built_with: &BuiltWith,
    path: &Path,
    mpiexec: &Path,
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<String> {
    if let BuiltWith::Another(what) = built_with {
        return Some(format!(
            "was built with {what}, in place of which there is no library here; build it with mpicc, mpicxx or mpifort of \
             WeftMPI (docs/compatibility.md)"
        ));
    }
    let is_of_family = matches!(built_with, BuiltWith::Family { .. });
    if is_of_family && hindrance::is_privileged(path) {
        let why = "is set-user-ID or set-group-ID, so that the dynamic linker ignores where this library is; build it with mpicc \
                   of WeftMPI";
        return Some(why.to_owned());
    }
    let prefix = mpiexec.parent().and_then(Path::parent).unwrap_or(mpiexec);
    let other = hindrance::preloaded(&value("LD_PRELOAD")?, prefix)?;
    Some(format!(
        "would run on another MPI library, which LD_PRELOAD names: {}",
        other.display()
    ))
}

/// A program, and what is set for it.
pub struct Prepared {
    pub path: PathBuf,
    pub settings: Settings,
}

/// A program as a shell would find it, where another launcher than mpiexec starts it.
pub fn program(
    name: &OsStr,
    value: impl Fn(&str) -> Option<OsString>,
) -> Result<Prepared, Unusable> {
    let here = std::env::current_dir().unwrap_or_default();
    let path = program::find(name, &here, None, value("PATH"))?;
    match libraries(&path, value) {
        Ok(settings) => Ok(Prepared { path, settings }),
        Err(why) => {
            let problem = format!("`{}` {why}", name.display());
            Err(Unusable::not_executable(problem))
        }
    }
}

/// What is set for any program, by whose file nothing is known.
pub fn for_any(value: impl Fn(&str) -> Option<OsString>) -> Settings {
    let this = std::env::current_exe().unwrap_or_default();
    settings(&BuiltWith::Unsaid, &this, value)
}

/// For a reader: with what `program` was built, and what becomes of that where `mpiexec` starts it.
pub fn explanation(program: &OsStr, mpiexec: &Path) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let path = program::find(program, &here, None, std::env::var_os("PATH"));
    let path = path.map_err(|unusable| unusable.problem)?;
    let built_with = read(&path);
    let (with, runs) = match &built_with {
        BuiltWith::Unsaid => (
            "the file says nothing of another MPI library".to_owned(),
            "on WeftMPI if it is of the standard ABI, or loads its library later",
        ),
        BuiltWith::Family { family, .. } => (
            format!("{} ({})", family.title, family.libraries[0]),
            "on WeftMPI, by a library of that name",
        ),
        BuiltWith::OwnMpich => (
            "MPICH, with its C++ bindings".to_owned(),
            "on its own library, which knows mpiexec's protocol",
        ),
        BuiltWith::Another(what) => (
            what.clone(),
            "not: there is no library in place of that one; build it by WeftMPI's mpicc, mpicxx or mpifort",
        ),
    };
    let value = |name: &str| std::env::var_os(name);
    let runs = match (&built_with, why_not(&built_with, &path, mpiexec, value)) {
        (BuiltWith::Another(_), _) | (_, None) => runs.to_owned(),
        (_, Some(why)) => format!("not: it {why}"),
    };
    let mut text = format!(
        "{:<22} {}\n{:<22} {with}\n{:<22} {runs}\n",
        "program",
        path.display(),
        "built with",
        "under mpiexec it runs"
    );
    for (name, value) in settings(&built_with, mpiexec, value) {
        text += &format!(
            "{:<22} {}\n",
            format!("  {}", name.display()),
            value.display()
        );
    }
    Ok(text)
}

/// What is set for a program so that it finds our libraries: the variables, of which `value` tells the present values.
pub fn settings(
    program: &BuiltWith,
    mpiexec: &Path,
    value: impl Fn(&str) -> Option<OsString>,
) -> Settings {
    let Some(compat) = folder(mpiexec) else {
        return Vec::new();
    };
    let families: &[Family] = match program {
        BuiltWith::Unsaid => &[MPICH, OPENMPI],
        BuiltWith::Family { family, .. } => std::slice::from_ref(family),
        BuiltWith::OwnMpich | BuiltWith::Another(_) => &[],
    };
    let folder =
        |family: &Family| Some(compat.join(family.folder)).filter(|folder| folder.is_dir());
    let of = |wanted: Family| {
        families
            .iter()
            .find(|family| **family == wanted)
            .and_then(folder)
    };
    let joined = |parts: [Option<OsString>; 3]| {
        let parts: Vec<OsString> = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(OsStr::new(":"))
    };
    let mut settings = Vec::new();
    let (before, behind) = (
        of(OPENMPI).map(OsString::from),
        of(MPICH).map(OsString::from),
    );
    if before.is_some() || behind.is_some() {
        let list = joined([before, value("LD_LIBRARY_PATH"), behind]);
        settings.push(("LD_LIBRARY_PATH".into(), list));
    }
    if let BuiltWith::Family {
        family,
        has_rpath: true,
    } = program
    {
        let folder = compat.join(family.folder);
        let [c, fortran] = family.libraries.map(|name| folder.join(name).into());
        let list = joined([value("LD_PRELOAD"), Some(c), Some(fortran)]);
        settings.push(("LD_PRELOAD".into(), list));
    }
    settings
}

/// The folder of libraries for other families, as seen from where mpiexec lies.
fn folder(mpiexec: &Path) -> Option<PathBuf> {
    let prefix = mpiexec.parent()?.parent()?;
    Some(prefix.join("lib/compat")).filter(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(needed: &[&str], used: &[&str]) -> BuiltWith {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let told = Told {
            needed: owned(needed),
            used: owned(used),
            ..Told::default()
        };
        told.judge()
    }

    fn family(family: Family) -> BuiltWith {
        BuiltWith::Family {
            family,
            has_rpath: false,
        }
    }

    #[test]
    fn programs_are_known_by_what_they_ask_for() {
        assert_eq!(judged(&["libc.so.6"], &["puts"]), BuiltWith::Unsaid);
        assert_eq!(
            judged(&["libmpi_abi.so.1"], &["MPI_Init"]),
            BuiltWith::Unsaid
        );
        assert_eq!(judged(&["libmpi.so.12"], &["MPI_Init"]), family(MPICH));
        assert_eq!(judged(&["libmpich.so.12"], &["MPI_Init"]), family(MPICH));
        // Debian's names, and linkers that leave out what only another library needs.
        for name in ["libmpichfort.so.12", "libmpifort.so.12"] {
            assert_eq!(judged(&[name], &["mpi_init_"]), family(MPICH));
        }
        assert_eq!(
            judged(&["libmpi_mpifh.so.40"], &["mpi_init_"]),
            family(OPENMPI)
        );
        let cxx = "_ZN3MPI4InitERiRPPc";
        assert_eq!(judged(&["libmpi.so.12"], &[cxx]), BuiltWith::OwnMpich);
        assert_eq!(
            judged(&["libmpi.so.40"], &["ompi_mpi_int"]),
            family(OPENMPI)
        );
        let in_cxx = ["_ZN3MPI8Datatype4FreeEv", "_ZN3MPI10COMM_WORLDE"];
        assert_eq!(
            judged(&["libmpi_cxx.so.40", "libmpi.so.40"], &in_cxx),
            family(OPENMPI)
        );
        for (needed, used, said) in [
            ("libmpi.so.20", "MPI_Init", "Open MPI 2 or 3"),
            ("libmpi.so.12", "ompi_mpi_int", "Open MPI 1.10"),
            (
                "libmpi.so.40",
                "_ZN3MPI4Comm17Create_errhandlerEPFvRS0_PizE",
                "functions in C++",
            ),
            ("libmpi_mt.so.4", "MPI_Init", "Intel MPI 4"),
            (
                "libmpi_gnu_123.so.12",
                "MPI_Init",
                "not known (libmpi_gnu_123.so.12)",
            ),
        ] {
            let judged = judged(&[needed], &[used]);
            let is_told = matches!(&judged, BuiltWith::Another(what) if what.contains(said));
            assert!(is_told, "{needed} {used}: {judged:?}");
        }
        let profiler = judged(&["libmpiP.so"], &["MPI_Init"]);
        assert_eq!(profiler, BuiltWith::Unsaid);
        let both = judged(&["libmpi.so.12", "libmpi.so.40"], &[]);
        assert!(matches!(both, BuiltWith::Another(_)));
    }

    #[test]
    fn what_is_no_program_says_nothing() {
        assert_eq!(read(&std::env::current_exe().unwrap()), BuiltWith::Unsaid);
        assert_eq!(read(Path::new("Cargo.toml")), BuiltWith::Unsaid);
        assert_eq!(read(Path::new("/nowhere")), BuiltWith::Unsaid);
        assert!(told(&std::env::current_exe().unwrap()).is_some_and(|told| {
            told.needed.iter().any(|name| name == "libc.so.6") && !told.used.is_empty()
        }));
    }

    #[test]
    fn our_libraries_stand_behind_the_users_but_for_open_mpi() {
        let prefix = std::env::temp_dir().join(format!("weft-built-with-{}", std::process::id()));
        let mpiexec = prefix.join("bin/mpiexec");
        let unset = |_: &str| None;
        assert_eq!(settings(&family(MPICH), &mpiexec, unset), []);
        let compat = prefix.join("lib/compat");
        for folder in ["mpich", "openmpi"] {
            std::fs::create_dir_all(compat.join(folder)).unwrap();
        }
        let shown = |program: &BuiltWith, present: Option<&str>| -> Vec<String> {
            let value = |name: &str| {
                present
                    .filter(|_| name == "LD_LIBRARY_PATH")
                    .map(OsString::from)
            };
            let settings = settings(program, &mpiexec, value);
            let shown = settings.into_iter().map(|(name, value)| {
                let value = value.into_string().unwrap();
                format!(
                    "{}={}",
                    name.display(),
                    value.replace(compat.to_str().unwrap(), "C")
                )
            });
            shown.collect()
        };
        assert_eq!(shown(&family(MPICH), None), ["LD_LIBRARY_PATH=C/mpich"]);
        assert_eq!(
            shown(&BuiltWith::Unsaid, Some("/a:/b")),
            ["LD_LIBRARY_PATH=C/openmpi:/a:/b:C/mpich"]
        );
        let has_rpath = BuiltWith::Family {
            family: OPENMPI,
            has_rpath: true,
        };
        let both = [
            "LD_LIBRARY_PATH=C/openmpi",
            "LD_PRELOAD=C/openmpi/libmpi.so.40:C/openmpi/libmpi_mpifh.so.40",
        ];
        assert_eq!(shown(&has_rpath, Some("")), both);
        assert!(shown(&BuiltWith::OwnMpich, None).is_empty());
        std::fs::remove_dir_all(prefix).unwrap();
    }
}
