//! Where files of prices are looked for. The first that is there counts:
//! 1. the one that `WEFT_PRICES` names, or none if that says `built-in`;
//! 2. this machine's in the user's cache folder, where `weft tune` writes it;
//! 3. this machine's in `share/weft/prices` of the installation.
//!
//! One that cannot be used is refused with a reason, and the built-in prices count.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{File, LONGEST_FILE_BYTES, Machine};

/// Names a file of prices.
pub const PRICES: &str = "WEFT_PRICES";
/// In its place: those that are built in.
pub const BUILT_IN: &str = "built-in";

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    BuiltIn,
    File(PathBuf, File),
    /// One line: a file and what is wrong with it.
    Refused(String),
}

/// By the environment of this process, and what is installed in `prefix`.
pub fn find(prefix: Option<&Path>) -> Found {
    find_in(&|name: &str| std::env::var_os(name), prefix)
}

fn find_in(variable: &dyn Fn(&str) -> Option<OsString>, prefix: Option<&Path>) -> Found {
    let path = match variable(PRICES).filter(|named| !named.is_empty()) {
        Some(named) if named == BUILT_IN => None,
        Some(named) => Some(named.into()),
        None => of_this_machine(variable, prefix),
    };
    let Some(path) = path else {
        return Found::BuiltIn;
    };
    match usable(&path) {
        Ok(file) => Found::File(path, file),
        Err(why) => Found::Refused(format!("{}: {why}", path.display())),
    }
}

fn of_this_machine(
    variable: &dyn Fn(&str) -> Option<OsString>,
    prefix: Option<&Path>,
) -> Option<PathBuf> {
    let installed = prefix.map(|prefix| prefix.join("share/weft/prices"));
    let folders = cache_folder(variable).into_iter().chain(installed);
    // The machine is looked at only where there are prices.
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    if folders.is_empty() {
        return None;
    }
    let name = Machine::here()?.file_name();
    let paths = folders.into_iter().map(|folder| folder.join(&name));
    paths.into_iter().find(|path| path.exists())
}

/// Where `weft tune` writes this machine's prices; none where the user has no cache folder or the kernel does not tell
/// the machine.
pub fn own_file() -> Option<PathBuf> {
    let folder = cache_folder(&|name: &str| std::env::var_os(name))?;
    Some(folder.join(Machine::here()?.file_name()))
}

fn cache_folder(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    Some(cache?.join("weftmpi"))
}

/// The file, if it is one of prices for this machine.
fn usable(path: &Path) -> Result<File, String> {
    let file: File = text(path)?.parse()?;
    let here = Machine::here().ok_or("the kernel does not tell what this machine is")?;
    match file.machine.differs_from(&here) {
        None => Ok(file),
        Some(why) => Err(why),
    }
}

fn text(path: &Path) -> Result<String, String> {
    // Opening a pipe would wait for its writer.
    let is_file = fs::metadata(path)
        .map_err(|error| error.to_string())?
        .is_file();
    if !is_file {
        return Err("it is no file".into());
    }
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LONGEST_FILE_BYTES {
        return Err(format!("it has more than {LONGEST_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is no text".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, Lists, Origin};

    /// A folder that goes with what is in it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("weft-prices-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn file(machine: Machine, command: &str) -> File {
        let origin = Origin {
            version: "0.1.0".into(),
            date: "today".into(),
            command: command.into(),
        };
        let prices = *Lists::BUILT_IN.of(Group::Near);
        File::new(machine, origin, vec![(Group::Far, prices)])
    }

    fn found(named: Option<&Path>, cache: &Path, prefix: &Path) -> Found {
        let variable = |name: &str| match name {
            PRICES => named.map(|path| path.into()),
            "XDG_CACHE_HOME" => Some(cache.into()),
            _ => None,
        };
        find_in(&variable, Some(prefix))
    }

    #[test]
    fn the_first_file_that_is_there_counts() {
        let folder = Folder::new("first");
        let (cache, prefix) = (folder.0.join("cache"), folder.0.join("prefix"));
        let here = Machine::here().unwrap();
        assert_eq!(found(None, &cache, &prefix), Found::BuiltIn);
        let mut expected = Found::BuiltIn;
        for parent in [
            prefix.join("share/weft/prices"),
            cache.join("weftmpi"),
            folder.0.clone(),
        ] {
            fs::create_dir_all(&parent).unwrap();
            let named = (parent == folder.0).then(|| parent.join(here.file_name()));
            assert_eq!(found(None, &cache, &prefix), expected);
            let file = file(here.clone(), &parent.display().to_string());
            let path = parent.join(here.file_name());
            fs::write(&path, file.to_string()).unwrap();
            expected = Found::File(path, file);
            assert_eq!(found(named.as_deref(), &cache, &prefix), expected);
        }
        let built_in = found(Some(Path::new(BUILT_IN)), &cache, &prefix);
        assert_eq!(built_in, Found::BuiltIn);
    }

    #[test]
    fn what_cannot_be_used_is_refused_in_one_line() {
        let folder = Folder::new("refused");
        let here = Machine::here().unwrap();
        let path = folder.0.join("prices");
        let refused = |written: &[u8]| {
            fs::write(&path, written).unwrap();
            match found(Some(&path), &folder.0, &folder.0) {
                Found::Refused(line) if line.lines().count() == 1 => line,
                other => panic!("{other:?}"),
            }
        };
        let other = Machine {
            kernel: "2.6".into(),
            ..here.clone()
        };
        let written = file(other, "weft tune").to_string();
        assert!(refused(written.as_bytes()).contains("kernel: it is for `2.6`, and this is"));
        assert!(refused(b"").contains("prices: line 1: "));
        assert!(refused(b"weft prices 1\n\xff").ends_with("it is no text"));
        let long = vec![b'#'; LONGEST_FILE_BYTES as usize + 1];
        assert!(refused(&long).ends_with("it has more than 65536 bytes"));
        fs::remove_file(&path).unwrap();
        let refused = |path: &Path| found(Some(path), &folder.0, &folder.0);
        assert!(matches!(refused(&path), Found::Refused(line) if line.contains("No such file")));
        assert!(
            matches!(refused(&folder.0), Found::Refused(line) if line.ends_with("it is no file"))
        );
    }
}
