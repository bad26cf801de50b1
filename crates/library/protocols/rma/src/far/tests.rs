mod accesses;
mod lock_queue;
mod requests;
