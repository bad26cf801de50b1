//! The processes of a communicator as members of its agreements: in the order of their ranks in the job, which is the same
//! for all of them.

use weft_agreement::Member;
use weft_objects::comm::Comm;
use weft_objects::group::Group;
use weft_process::job;
use weft_transport::Peer;

pub struct Members {
    /// In ascending order.
    peers: Vec<Peer>,
    /// Which of the two sides of an inter-communicator this process is on: the first has the lowest process.
    pub side: usize,
    pub is_inter: bool,
}

impl Members {
    pub fn of(comm: &Comm) -> Members {
        let own: Vec<Peer> = comm.group().peers().collect();
        let remote = comm.local_and_remote().map(|(_, remote)| remote);
        let others: Vec<Peer> = remote.map_or_else(Vec::new, |group| group.peers().collect());
        let side = usize::from(!others.is_empty() && others.iter().min() < own.iter().min());
        let mut peers = [own, others].concat();
        peers.sort_unstable();
        Members {
            peers,
            side,
            is_inter: remote.is_some(),
        }
    }

    pub fn count(&self) -> u32 {
        self.peers.len() as u32
    }

    pub fn own(&self) -> Member {
        self.find(job::rank())
            .expect("a process is in its communicators")
    }

    pub fn find(&self, peer: Peer) -> Option<Member> {
        let found = self.peers.binary_search(&peer);
        found.ok().map(|number| number as Member)
    }

    pub fn peer(&self, member: Member) -> Peer {
        self.peers[member as usize]
    }

    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The group of some members, in the order given.
    pub fn group(&self, members: impl IntoIterator<Item = Member>) -> Group {
        Group::listed(
            members
                .into_iter()
                .map(|member| self.peer(member))
                .collect(),
        )
    }
}
