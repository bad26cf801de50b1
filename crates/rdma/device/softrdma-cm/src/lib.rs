//! A connection manager in the place of rdma-core's librdmacm, for devices that the kernel knows nothing of.
//!
//! rdma-core's asks the kernel, through `/dev/infiniband/rdma_cm`, to find routes and to exchange messages. Here the
//! messages travel on TCP connections between the two processes: the port of a listening identifier is a TCP port, a
//! connection request is a connect. The end of a process ends its connections, so that its peers are told.
//!
//! What is said on the wire is in [`message`]; one thread per process listens to all sockets ([`sockets`]) and turns what it
//! hears into events ([`channel`], [`deliver`]). Identifiers, and queue pairs at their transitions, are only touched by the
//! application's own calls.
//!
//! Only verbs are used, loaded at run time: whatever device `libibverbs.so.1` has.

mod abi;
mod address;
mod call;
mod channel;
mod connect;
mod deliver;
mod device;
mod endpoint;
mod event;
mod exports;
mod identifier;
mod membership;
mod message;
mod multicast;
mod options;
mod queue_pair;
mod resolve;
mod sockets;
mod text;
