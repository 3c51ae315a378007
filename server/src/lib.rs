pub mod ssh;
