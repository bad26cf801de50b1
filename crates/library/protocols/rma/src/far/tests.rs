mod accesses;
mod commands;
mod lock_queue;
