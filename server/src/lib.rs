//! The server: configuration, HTTP, accounts, SSH, the runner and the store. SQL stays in `store`,
//! SSH in `ssh`.

#![recursion_limit = "256"]

pub mod cli;
pub mod clock;
pub mod config;
pub mod database;
pub mod http;
pub mod knowledge;
pub mod live;
pub mod people;
pub mod postgres;
pub mod route;
pub mod runner;
pub mod serve;
pub mod services;
pub mod ssh;
pub mod store;
pub mod target;
pub mod tls;
