//! The library from outside: what it exports under which version, and that other people's libraries load with it.
//!
//! `symbols.txt` is what `readelf` has to say, sorted. When the set of exports changes on purpose, the failing test prints
//! the lines to add and to remove.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const SYSTEM: &str = "/usr/lib/x86_64-linux-gnu";

/// The library that cargo built for this test, under the name that programs look for.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("deps").join("libibverbs.so");
        assert!(built.exists(), "{} is not built", built.display());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbols");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let library = folder.join("libibverbs.so.1");
        let _ = std::fs::remove_file(&library);
        std::os::unix::fs::symlink(&built, &library).expect("a link can be made");
        library
    })
}

fn readelf(arguments: &[&str], file: &Path) -> String {
    let output = Command::new("readelf")
        .args(arguments)
        .arg(file)
        .output()
        .expect("readelf runs (package binutils)");
    assert!(output.status.success(), "readelf of {}", file.display());
    String::from_utf8(output.stdout).expect("readelf prints text")
}

/// `NAME@@NODE` or `NAME@NODE` of each dynamic symbol that is (not) defined; unversioned ones as `NAME`.
fn dynamic_symbols(file: &Path, defined: bool) -> BTreeSet<String> {
    readelf(&["--dyn-syms", "--wide"], file)
        .lines()
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [_, _, _, _, _, _, section, name, ..] = columns[..] else {
                return None;
            };
            (section != "Ndx" && (section != "UND") == defined).then(|| name.to_owned())
        })
        .filter(|name| {
            !defined || (!name.starts_with("IBVERBS_") && !name.starts_with("SOFTRDMA_"))
        })
        .collect()
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = Path::new(SYSTEM).join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is missing",
        path.display()
    );
    eprintln!("NOT TESTED: {} is missing", path.display());
    None
}

#[test]
fn exports_are_the_committed_ones_and_no_others() {
    let exported = dynamic_symbols(library(), true);
    let committed: BTreeSet<String> = include_str!("symbols.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    let more: Vec<_> = exported.difference(&committed).collect();
    let fewer: Vec<_> = committed.difference(&exported).collect();
    assert!(
        more.is_empty() && fewer.is_empty(),
        "not in symbols.txt: {more:#?}\nnot exported: {fewer:#?}"
    );
}

#[test]
fn the_soname_is_the_system_librarys() {
    let dynamic = readelf(&["--dynamic", "--wide"], library());
    assert!(dynamic.contains("Library soname: [libibverbs.so.1]"));
}

/// All that the installed library offers to new programs, under the same version.
#[test]
fn every_default_symbol_of_the_system_library_is_here() {
    let Some(system) = installed("libibverbs.so.1") else {
        return;
    };
    let ours = dynamic_symbols(library(), true);
    let theirs = dynamic_symbols(&system, true);
    let missing: Vec<_> = theirs
        .iter()
        .filter(|symbol| symbol.contains("@@") && !ours.contains(*symbol))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Vendor libraries bind all their imports when they are loaded, so nothing may be missing.
#[test]
fn libraries_over_verbs_load_with_ours() {
    let ours = library();
    let exported: BTreeSet<String> = dynamic_symbols(ours, true)
        .iter()
        .map(|symbol| symbol.replace("@@", "@"))
        .collect();
    for name in ["libmlx5.so.1", "libefa.so.1", "librdmacm.so.1"] {
        let Some(path) = installed(name) else {
            continue;
        };
        let imports = dynamic_symbols(&path, false);
        let missing: Vec<_> = imports
            .iter()
            .filter(|symbol| symbol.contains("@IBVERBS_") && !exported.contains(*symbol))
            .collect();
        assert!(missing.is_empty(), "{name}: {missing:#?}");
        let output = Command::new("/bin/true")
            .env("LD_BIND_NOW", "1")
            .env("LD_LIBRARY_PATH", ours.parent().expect("a folder"))
            .env("LD_PRELOAD", &path)
            .output()
            .expect("true runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{name}: {told}");
    }
}
