//! The database's server: a private cluster that lives with Hopwise, or the one of a URL.
