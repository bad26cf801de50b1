//! The verbs, called as programs call them: two queue pairs of one process that are connected to each other, and queue pairs of two
//! processes. The device is the process's one; each test makes its own objects.

mod datagrams;
mod denied;
mod errors;
mod events;
mod extended;
mod processes;
mod reliable;
mod shared;

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Once;
use std::time::{Duration, Instant};

use weft_verbs_abi::*;

use super::*;

/// Longer than anything that is not broken takes, on a machine that has other things to do.
pub const SOON: Duration = Duration::from_secs(20);

const ACCESS: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_MW_BIND;

pub const QKEY: u32 = 0x1111;

pub fn open() -> *mut ibv_context {
    static FABRIC: Once = Once::new();
    FABRIC.call_once(|| {
        if std::env::var_os("SOFTRDMA_FABRIC").is_none() {
            let name = format!("test-{}", std::process::id());
            // SAFETY: no other thread of the tests reads the environment before it has been here.
            unsafe { std::env::set_var("SOFTRDMA_FABRIC", name) };
        }
    });
    let device = devices().unwrap()[0].as_abi();
    // SAFETY: a device of the list.
    let context = unsafe { ibv_open_device(device) };
    assert!(!context.is_null());
    context
}

/// What a side is made with.
#[derive(Clone, Copy)]
pub struct Setup {
    pub kind: ibv_qp_type,
    pub depth: u32,
    pub cqe: c_int,
    pub timeout: u8,
    pub retries: u8,
    pub rnr_retries: u8,
    pub signals_all: bool,
    pub srq: bool,
    pub send_operations: u64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            kind: IBV_QPT_RC,
            depth: 64,
            cqe: 256,
            timeout: 12,
            retries: 3,
            rnr_retries: 7,
            signals_all: false,
            srq: false,
            send_operations: 0,
        }
    }
}

/// A queue pair with all that it needs, and a page of memory for each of three purposes.
pub struct Side {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub channel: *mut ibv_comp_channel,
    pub cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub qp: *mut ibv_qp,
    pub mr: *mut ibv_mr,
    pub memory: Vec<u8>,
    setup: Setup,
}

/// Bytes of a side's memory.
pub const BYTES: usize = 256 << 10;

impl Side {
    pub fn new(setup: Setup) -> Side {
        let context = open();
        let mut memory = vec![0; BYTES];
        // SAFETY: all arguments are alive and of this device; the memory stays where it is.
        unsafe {
            let pd = ibv_alloc_pd(context);
            let mr = ibv_reg_mr(pd, memory.as_mut_ptr().cast(), BYTES, ACCESS as c_int);
            assert!(!mr.is_null());
            let channel = ibv_create_comp_channel(context);
            let cq = ibv_create_cq(context, setup.cqe, null_mut(), channel, 0);
            assert!(!cq.is_null());
            let mut wish = ibv_srq_init_attr::default();
            (wish.attr.max_wr, wish.attr.max_sge) = (setup.depth, 4);
            let srq = if setup.srq {
                ibv_create_srq(pd, &mut wish)
            } else {
                null_mut()
            };
            let mut side = Side {
                context,
                pd,
                channel,
                cq,
                srq,
                qp: null_mut(),
                mr,
                memory,
                setup,
            };
            side.qp = side.queue_pair();
            side
        }
    }

    unsafe fn queue_pair(&self) -> *mut ibv_qp {
        let setup = self.setup;
        let operations = setup.send_operations;
        let mut wish = ibv_qp_init_attr_ex {
            send_cq: self.cq,
            recv_cq: self.cq,
            srq: self.srq,
            cap: ibv_qp_cap {
                max_send_wr: setup.depth,
                max_recv_wr: setup.depth,
                max_send_sge: 4,
                max_recv_sge: 4,
                max_inline_data: 64,
            },
            qp_type: setup.kind,
            sq_sig_all: c_int::from(setup.signals_all),
            comp_mask: IBV_QP_INIT_ATTR_PD
                | if operations != 0 {
                    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
                } else {
                    0
                },
            pd: self.pd,
            send_ops_flags: operations,
            ..Default::default()
        };
        // SAFETY: all objects are alive.
        let qp = unsafe { qp::create_qp_ex(self.context, &mut wish) };
        assert!(!qp.is_null());
        qp
    }

    pub fn qpn(&self) -> u32 {
        // SAFETY: alive.
        unsafe { (*self.qp).qp_num }
    }

    pub fn modify(&self, attributes: &mut ibv_qp_attr, mask: c_int) -> c_int {
        // SAFETY: alive.
        unsafe { ibv_modify_qp(self.qp, attributes, mask) }
    }

    pub fn to_init(&self) {
        let mut init = ibv_qp_attr {
            qp_state: IBV_QPS_INIT,
            port_num: 1,
            qkey: QKEY,
            qp_access_flags: ACCESS,
            ..Default::default()
        };
        let ud = self.setup.kind == IBV_QPT_UD;
        let own = if ud { IBV_QP_QKEY } else { IBV_QP_ACCESS_FLAGS };
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | own;
        assert_eq!(self.modify(&mut init, mask), 0);
    }

    pub fn to_rtr(&self, dest_qpn: u32) {
        let mut rtr = ibv_qp_attr {
            qp_state: IBV_QPS_RTR,
            path_mtu: IBV_MTU_1024,
            dest_qp_num: dest_qpn,
            max_dest_rd_atomic: 4,
            min_rnr_timer: 1,
            ..Default::default()
        };
        rtr.ah_attr.dlid = 1;
        rtr.ah_attr.port_num = 1;
        let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        let responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        let mask = match self.setup.kind {
            IBV_QPT_UD => IBV_QP_STATE,
            IBV_QPT_UC => IBV_QP_STATE | path,
            _ => IBV_QP_STATE | path | responder,
        };
        assert_eq!(self.modify(&mut rtr, mask), 0);
    }

    pub fn to_rts(&self) {
        let mut rts = ibv_qp_attr {
            qp_state: IBV_QPS_RTS,
            timeout: self.setup.timeout,
            retry_cnt: self.setup.retries,
            rnr_retry: self.setup.rnr_retries,
            max_rd_atomic: 4,
            ..Default::default()
        };
        let requester =
            IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
        let mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
        let mask = match self.setup.kind {
            IBV_QPT_UD | IBV_QPT_UC => mask,
            _ => mask | requester,
        };
        assert_eq!(self.modify(&mut rts, mask), 0);
    }

    pub fn connect(&self, dest_qpn: u32) {
        self.to_init();
        self.to_rtr(dest_qpn);
        self.to_rts();
    }

    pub fn set_state(&self, state: ibv_qp_state) {
        let mut attributes = ibv_qp_attr {
            qp_state: state,
            ..Default::default()
        };
        assert_eq!(self.modify(&mut attributes, IBV_QP_STATE), 0);
    }

    pub fn state(&self) -> ibv_qp_state {
        let mut attributes = ibv_qp_attr::default();
        let mut init = ibv_qp_init_attr::default();
        // SAFETY: alive, and writable.
        unsafe { ibv_query_qp(self.qp, &mut attributes, IBV_QP_STATE, &mut init) };
        attributes.qp_state
    }

    pub fn address(&self, offset: usize) -> u64 {
        self.memory.as_ptr() as u64 + offset as u64
    }

    pub fn key(&self) -> u32 {
        // SAFETY: alive.
        unsafe { (*self.mr).rkey }
    }

    pub fn sge(&self, offset: usize, length: usize) -> ibv_sge {
        ibv_sge {
            addr: self.address(offset),
            length: length as u32,
            lkey: self.key(),
        }
    }

    /// Posts one request; its error number.
    pub fn post(&self, wr: ibv_send_wr, elements: &[ibv_sge]) -> c_int {
        let mut elements = elements.to_vec();
        let mut wr = ibv_send_wr {
            sg_list: elements.as_mut_ptr(),
            num_sge: elements.len() as c_int,
            ..wr
        };
        let mut bad = null_mut();
        // SAFETY: all are readable during the call.
        unsafe { crate::verbs::post::post_send(self.qp, &mut wr, &mut bad) }
    }

    pub fn receive(&self, wr_id: u64, offset: usize, length: usize) -> c_int {
        let mut element = self.sge(offset, length);
        let mut wr = ibv_recv_wr {
            wr_id,
            next: null_mut(),
            sg_list: &mut element,
            num_sge: 1,
        };
        let mut bad = null_mut();
        // SAFETY: all are readable during the call.
        unsafe {
            match self.srq.is_null() {
                true => qp::post_recv(self.qp, &mut wr, &mut bad),
                false => srq::post_srq_recv(self.srq, &mut wr, &mut bad),
            }
        }
    }

    pub fn poll(&self) -> Option<ibv_wc> {
        // SAFETY: all zeros is a valid completion.
        let mut wc: ibv_wc = unsafe { std::mem::zeroed() };
        // SAFETY: one writable entry.
        match unsafe { cq::poll_cq(self.cq, 1, &mut wc) } {
            0 => None,
            count => {
                assert_eq!(count, 1);
                Some(wc)
            }
        }
    }

    /// The next completion.
    pub fn wait(&self) -> ibv_wc {
        let begin = Instant::now();
        loop {
            if let Some(wc) = self.poll() {
                return wc;
            }
            assert!(begin.elapsed() < SOON, "no completion");
            std::thread::yield_now();
        }
    }

    /// The next completion, which must be of this request and status.
    pub fn expect(&self, wr_id: u64, status: ibv_wc_status) -> ibv_wc {
        let wc = self.wait();
        assert_eq!((wc.wr_id, wc.status), (wr_id, status));
        wc
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // SAFETY: in the order in which they stand on each other.
        let answers = unsafe {
            [
                ibv_destroy_qp(self.qp),
                if self.srq.is_null() {
                    0
                } else {
                    ibv_destroy_srq(self.srq)
                },
                ibv_destroy_cq(self.cq),
                ibv_destroy_comp_channel(self.channel),
                ibv_dereg_mr(self.mr),
                ibv_dealloc_pd(self.pd),
                ibv_close_device(self.context),
            ]
        };
        if !std::thread::panicking() {
            assert_eq!(answers, [0; 7]);
        }
    }
}

/// Two sides, connected to each other.
pub fn pair(setup: Setup) -> [Side; 2] {
    let sides = [Side::new(setup), Side::new(setup)];
    sides[0].connect(sides[1].qpn());
    sides[1].connect(sides[0].qpn());
    sides
}

/// A signalled request without payload.
pub fn request(wr_id: u64, opcode: ibv_wr_opcode) -> ibv_send_wr {
    ibv_send_wr {
        wr_id,
        opcode,
        send_flags: IBV_SEND_SIGNALED,
        ..Default::default()
    }
}

/// One that names remote memory.
pub fn remote(wr_id: u64, opcode: ibv_wr_opcode, address: u64, rkey: u32) -> ibv_send_wr {
    let mut wr = request(wr_id, opcode);
    wr.wr.rdma = ibv_send_wr_rdma {
        remote_addr: address,
        rkey,
    };
    wr
}

/// Bytes that tell where they came from.
pub fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8) ^ seed)
        .collect()
}
