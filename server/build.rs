//! The migrations are embedded at compile time; cargo does not see on its own that a file was added.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
