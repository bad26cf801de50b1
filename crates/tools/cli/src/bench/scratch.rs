//! The folder in which a program makes its file. It goes away with what is in it, also where the program was stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

pub struct Scratch(PathBuf);

impl Scratch {
    /// A new folder in `parent`, which is made too if it is not there.
    pub fn below(parent: &Path) -> io::Result<Scratch> {
        let path = parent.join(format!("weft-bench-{}", process::id()));
        fs::create_dir_all(&path)
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        Ok(Scratch(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is told by whoever finds it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("new");
        let scratch = Scratch::below(&parent).unwrap();
        fs::write(scratch.path().join("file"), "left behind").unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
    }
}
