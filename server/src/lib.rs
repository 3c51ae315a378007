pub mod ssh;

