//! The XRC domain that the processes of a host share: that of an anonymous file of one of them.
//!
//! The first process of the job on a host makes the file; its card says which of its descriptors that is. The others open it from
//! `/proc`, once they need it, and keep it: from then on that process may leave. One that cannot open it, because it sees other
//! processes than those of its host or is too late, has a domain of its own. It is a host of its own to its peers then: it refuses
//! what is asked of it as of one of its host's ([`Refusal::Apart`](crate::handshake::Refusal)).

use std::fs::{File, metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use weft_kernel::{above_standard, anonymous_file};
use weft_transport::Peer;

/// Where a file is that nobody else can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainFile {
    pub process: u32,
    pub descriptor: u32,
    /// By which a file of the same place in another view of processes is told from it.
    pub inode: u64,
}

/// What a process's card says of its host's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCard {
    /// The process whose file it is.
    pub first: Peer,
    /// On that process's card.
    pub place: Option<DomainFile>,
}

/// Makes a host's file.
pub fn make() -> io::Result<(File, DomainFile)> {
    let file = anonymous_file(c"weft-xrc")?;
    let place = DomainFile {
        process: std::process::id(),
        descriptor: file.as_raw_fd() as u32,
        inode: file.metadata()?.ino(),
    };
    Ok((file, place))
}

/// Opens the file of another process.
pub fn open(place: DomainFile) -> io::Result<File> {
    let path = format!("/proc/{}/fd/{}", place.process, place.descriptor);
    // Opening what is something else might wait.
    let is_it = |inode| inode == place.inode;
    if !is_it(metadata(&path)?.ino()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = above_standard(|| File::open(path))?;
    match is_it(file.metadata()?.ino()) {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_found_and_no_other() {
        let (file, place) = make().unwrap();
        let found = open(place).unwrap();
        let inodes = [&file, &found].map(|file| file.metadata().unwrap().ino());
        assert_eq!(inodes[0], inodes[1]);
        let (other, _) = make().unwrap();
        let wrong = DomainFile {
            descriptor: other.as_raw_fd() as u32,
            ..place
        };
        assert!(open(wrong).is_err());
        drop(file);
        assert!(open(place).is_err());
        assert_eq!(found.metadata().unwrap().ino(), place.inode, "it is kept");
    }
}
