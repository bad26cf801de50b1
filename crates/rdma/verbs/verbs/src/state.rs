//! The states of queue pairs (ibv_modify_qp(3)): reset, initialised, ready to receive, ready to send.

use std::ffi::c_int;

use weft_verbs_abi::*;

use crate::error::check;
use crate::{Completions, Context, Domain, Error, Kind, QueuePair};

/// The way to a peer's port. On InfiniBand the LID is enough; on Ethernet the GID is needed, and the index of the own one.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub lid: u16,
    /// The peer's, with the index of the own one in its port's table.
    pub gid: Option<(ibv_gid, u8)>,
    pub service_level: u8,
}

impl Path {
    pub(crate) fn attributes(&self, port: u8) -> ibv_ah_attr {
        let mut attributes = ibv_ah_attr {
            dlid: self.lid,
            sl: self.service_level,
            port_num: port,
            ..Default::default()
        };
        if let Some((gid, index)) = self.gid {
            attributes.is_global = 1;
            attributes.grh.dgid = gid;
            attributes.grh.sgid_index = index;
            attributes.grh.hop_limit = 64;
        }
        attributes
    }
}

/// How a connected queue pair reaches its peer.
#[derive(Clone, Debug)]
pub struct Connection {
    pub port: u8,
    pub path: Path,
    pub mtu: ibv_mtu,
    /// The peer's queue pair.
    pub queue_pair: u32,
    /// The first packet numbers of the peer's and of the own requests.
    pub receive_psn: u32,
    pub send_psn: u32,
    /// What the peer may do with regions that allow it.
    pub access: ibv_access_flags,
    /// Reads and atomics under way at a time, as responder and as requester.
    pub responder_depth: u8,
    pub requester_depth: u8,
    /// 4.096 us times 2 to this power; 0 is for ever.
    pub timeout: u8,
    pub retries: u8,
    /// 7 is for ever.
    pub receiver_not_ready_retries: u8,
    pub receiver_not_ready_timer: u8,
}

impl Connection {
    /// To queue pair `queue_pair` over `path`, with the values that most programs take.
    pub fn new(path: Path, queue_pair: u32) -> Connection {
        Connection {
            port: 1,
            path,
            mtu: IBV_MTU_1024,
            queue_pair,
            receive_psn: 0,
            send_psn: 0,
            access: IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
            responder_depth: 1,
            requester_depth: 1,
            timeout: 14,
            retries: 7,
            receiver_not_ready_retries: 7,
            receiver_not_ready_timer: 12,
        }
    }

    /// Attributes and mask of each step for a queue pair of that kind.
    pub(crate) fn steps(&self, kind: ibv_qp_type) -> [(ibv_qp_attr, c_int); 3] {
        let is_reliable = kind != IBV_QPT_UC;
        let responds = is_reliable && kind != IBV_QPT_XRC_SEND;
        let requests = is_reliable && kind != IBV_QPT_XRC_RECV;
        [
            self.initialised(),
            self.ready_to_receive(responds),
            self.ready_to_send(requests, is_reliable),
        ]
    }

    fn initialised(&self) -> (ibv_qp_attr, c_int) {
        let attributes = ibv_qp_attr {
            qp_state: IBV_QPS_INIT,
            port_num: self.port,
            qp_access_flags: self.access,
            ..Default::default()
        };
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        (attributes, mask)
    }

    fn ready_to_receive(&self, responds: bool) -> (ibv_qp_attr, c_int) {
        let attributes = ibv_qp_attr {
            qp_state: IBV_QPS_RTR,
            path_mtu: self.mtu,
            dest_qp_num: self.queue_pair,
            rq_psn: self.receive_psn,
            max_dest_rd_atomic: self.responder_depth,
            min_rnr_timer: self.receiver_not_ready_timer,
            ah_attr: self.path.attributes(self.port),
            ..Default::default()
        };
        let always = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        let responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        (attributes, always | if responds { responder } else { 0 })
    }

    fn ready_to_send(&self, requests: bool, is_reliable: bool) -> (ibv_qp_attr, c_int) {
        let attributes = ibv_qp_attr {
            qp_state: IBV_QPS_RTS,
            sq_psn: self.send_psn,
            timeout: self.timeout,
            retry_cnt: self.retries,
            rnr_retry: self.receiver_not_ready_retries,
            max_rd_atomic: self.requester_depth,
            ..Default::default()
        };
        let mut mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
        if is_reliable {
            mask |= IBV_QP_TIMEOUT;
        }
        if requests {
            mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
        }
        (attributes, mask)
    }
}

impl<D: Domain, C: Completions> QueuePair<D, C> {
    /// From reset to ready to send, connected to a peer.
    pub fn connect(&self, connection: &Connection) -> Result<(), Error> {
        // SAFETY: alive.
        let kind = unsafe { (*self.as_abi()).qp_type };
        for (mut attributes, mask) in connection.steps(kind) {
            self.modify(&mut attributes, mask)?;
        }
        Ok(())
    }

    /// From reset to ready to send, for datagrams.
    pub fn start_datagrams(&self, port: u8, key: u32, send_psn: u32) -> Result<(), Error> {
        debug_assert_eq!(self.kind(), Kind::Ud);
        let mut attributes = ibv_qp_attr {
            qp_state: IBV_QPS_INIT,
            port_num: port,
            qkey: key,
            sq_psn: send_psn,
            ..Default::default()
        };
        let initial = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        self.modify(&mut attributes, initial)?;
        attributes.qp_state = IBV_QPS_RTR;
        self.modify(&mut attributes, IBV_QP_STATE)?;
        attributes.qp_state = IBV_QPS_RTS;
        self.modify(&mut attributes, IBV_QP_STATE | IBV_QP_SQ_PSN)
    }

    /// Flushes what is posted, and lets nothing more through.
    pub fn fail(&self) -> Result<(), Error> {
        self.set_state(IBV_QPS_ERR)
    }

    /// Forgets all that is posted; then it can be connected again.
    pub fn reset(&self) -> Result<(), Error> {
        self.set_state(IBV_QPS_RESET)
    }

    fn set_state(&self, state: ibv_qp_state) -> Result<(), Error> {
        let mut attributes = ibv_qp_attr {
            qp_state: state,
            ..Default::default()
        };
        self.modify(&mut attributes, IBV_QP_STATE)
    }

    /// Any other change.
    pub fn modify(&self, attributes: &mut ibv_qp_attr, mask: c_int) -> Result<(), Error> {
        // SAFETY: alive, and readable.
        let answer =
            unsafe { (self.context().library().modify_qp)(self.as_abi(), attributes, mask) };
        check("ibv_modify_qp", answer, || self.name())
    }

    pub fn query(&self) -> Result<(ibv_qp_attr, ibv_qp_init_attr), Error> {
        const ALL: c_int = IBV_QP_DEST_QPN * 2 - 1;
        let (mut attributes, mut initial) = Default::default();
        // SAFETY: alive, and writable.
        let answer = unsafe {
            (self.context().library().query_qp)(self.as_abi(), &mut attributes, ALL, &mut initial)
        };
        check("ibv_query_qp", answer, || self.name())?;
        Ok((attributes, initial))
    }

    pub fn state(&self) -> Result<ibv_qp_state, Error> {
        Ok(self.query()?.0.qp_state)
    }

    fn context(&self) -> &Context {
        self.domain().protection_domain().context()
    }
}
