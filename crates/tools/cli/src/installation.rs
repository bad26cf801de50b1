//! Where this installation's files are, found from the place of the running program, so that an installed tree works
//! after being moved.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The folders of an installation.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Holds `bin/mpicc`, `bin/mpiexec` and `lib/libmpi_abi.so.1`.
    pub prefix: PathBuf,
    /// The C sources of the benchmarks.
    pub sources: PathBuf,
    /// Compiled benchmarks and the peers' libraries.
    pub build: PathBuf,
    /// The source tree that this program stands in, if it does.
    pub tree: Option<PathBuf>,
}

impl Installation {
    /// Or a line that says why it cannot be found.
    pub fn find() -> Result<Installation, String> {
        Installation::of_this_program()
            .map_err(|error| format!("cannot find where this program is: {error}"))
    }

    fn of_this_program() -> io::Result<Installation> {
        let program = env::current_exe()?;
        let cache = env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
            .unwrap_or_else(env::temp_dir);
        Ok(Installation::of(&program, &env::current_dir()?, &cache))
    }

    /// Where the sources stand beside the installed program, those; else those of the source tree around the program
    /// or the current folder, with the tree's `install/` unless the program itself is installed. Built is in the
    /// tree, or without one in the user's cache.
    fn of(program: &Path, current: &Path, cache: &Path) -> Installation {
        let parent = program
            .parent()
            .and_then(Path::parent)
            .unwrap_or(Path::new("/"));
        let shared = parent.join("share/weft/bench");
        let is_installed = parent.join("bin/mpiexec").is_file();
        let around = |from: &Path| {
            let mut folders = from.ancestors();
            folders
                .find(|d| d.join("bench/bench.h").is_file())
                .map(Path::to_path_buf)
        };
        let tree = around(program).or_else(|| if is_installed { None } else { around(current) });
        Installation {
            prefix: match &tree {
                Some(tree) if !is_installed => tree.join("install"),
                _ => parent.to_path_buf(),
            },
            sources: match &tree {
                Some(tree) if !shared.is_dir() => tree.join("bench"),
                _ => shared,
            },
            build: tree
                .as_ref()
                .map_or_else(|| cache.join("weft"), |tree| tree.join("build")),
            tree,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn a_program_built_in_the_tree_uses_the_tree_and_its_install_folder() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path();
        touch(&tree.join("bench/bench.h"));
        let inside = Installation::of(
            &tree.join("target/debug/weft"),
            Path::new("/"),
            Path::new("/cache"),
        );
        let outside = Installation::of(
            Path::new("/elsewhere/debug/weft"),
            tree,
            Path::new("/cache"),
        );
        for installation in [inside, outside] {
            assert_eq!(installation.prefix, tree.join("install"));
            assert_eq!(installation.sources, tree.join("bench"));
            assert_eq!(installation.build, tree.join("build"));
        }
    }

    #[test]
    fn an_installed_program_uses_what_is_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("opt/weft");
        touch(&prefix.join("bin/mpiexec"));
        touch(&prefix.join("share/weft/bench/bench.h"));
        let installation = Installation::of(
            &prefix.join("bin/weft"),
            Path::new("/"),
            Path::new("/cache"),
        );
        assert_eq!(installation.prefix, prefix);
        assert_eq!(installation.sources, prefix.join("share/weft/bench"));
        assert_eq!(installation.build, Path::new("/cache/weft"));
        assert_eq!(installation.tree, None);
    }
}
