use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("xtask is in the workspace")
        .to_path_buf()
}
