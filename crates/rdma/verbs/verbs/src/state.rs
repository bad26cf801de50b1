//! The states of queue pairs (ibv_modify_qp(3)): reset, initialised, ready to receive, ready to send.

use std::ffi::c_int;

use weft_verbs_abi::*;

use crate::error::check;
use crate::{Completions, Connection, Context, Domain, Error, QpType, QueuePair};

impl<D: Domain, C: Completions> QueuePair<D, C> {
    /// From reset to ready to send, connected to a peer.
    pub fn connect(&self, connection: &Connection) -> Result<(), Error> {
        self.initialise(connection)?;
        self.connect_initialised(connection)
    }

    /// From reset to initialised: receives may be posted, and nothing comes so far.
    pub fn initialise(&self, connection: &Connection) -> Result<(), Error> {
        let [initialised, ..] = connection.steps(self.abi_kind());
        self.step(initialised)
    }

    /// From initialised to ready to send, connected to a peer.
    pub fn connect_initialised(&self, connection: &Connection) -> Result<(), Error> {
        let [_, ready_to_receive, ready_to_send] = connection.steps(self.abi_kind());
        self.step(ready_to_receive)?;
        self.step(ready_to_send)
    }

    fn abi_kind(&self) -> ibv_qp_type {
        // SAFETY: alive.
        unsafe { (*self.as_abi()).qp_type }
    }

    fn step(&self, (mut attributes, mask): (ibv_qp_attr, c_int)) -> Result<(), Error> {
        self.modify(&mut attributes, mask)
    }

    /// From reset to ready to send, for datagrams.
    pub fn start_datagrams(&self, port: u8, key: u32, send_psn: u32) -> Result<(), Error> {
        debug_assert_eq!(self.kind(), QpType::Ud);
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
