//! The knowledge that ships inside the program.

use std::sync::Arc;

use diagnosis::knowledge::{LoadError, Pack, Source};

include!(concat!(env!("OUT_DIR"), "/knowledge.rs"));

/// Loads the embedded knowledge.
///
/// # Errors
/// Names every fault with its file, line and column; a test keeps the embedded one free of them.
pub fn embedded() -> Result<Arc<Pack>, Vec<LoadError>> {
    let sources: Vec<Source<'_>> = EMBEDDED
        .iter()
        .map(|(name, text)| Source { name, text })
        .collect();
    Pack::load(&sources).map(Arc::new)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_embedded_knowledge_is_sound() {
        let pack = super::embedded().unwrap();
        assert!(!pack.symptoms.is_empty(), "no symptom is embedded");
    }
}
