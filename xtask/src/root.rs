use std::path::{Path, PathBuf};

/// The root of the repository that cargo runs this in; without cargo, of the one that it was built from.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let parent = manifest.parent().map(Path::to_path_buf);
    parent.expect("xtask is in the workspace")
}
