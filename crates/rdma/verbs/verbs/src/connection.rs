//! Where a peer is, and how a queue pair goes to it.

use std::ffi::c_int;

use weft_verbs_abi::*;

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
