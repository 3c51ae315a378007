//! Values computed from facts, pure and tested; conditions call them by name.

mod address;
mod neighbour;
mod way;

pub use address::{beyond_a_subnet, family_of, global_addresses, on_link, refused_addresses};
pub use neighbour::{neighbour, resolution_failed};
pub use way::{Way, WayState, way};
