//! Names that symptoms and checks refer to by themselves.

use super::Draft;

pub(super) fn check(draft: &mut Draft) {
    let mut errors = Vec::new();
    for symptom in draft.symptoms.values() {
        let tree = &symptom.value.tree;
        if !draft.trees.contains_key(tree) {
            errors.push(
                symptom
                    .places
                    .error(&["tree"], format!("there is no tree “{tree}”")),
            );
        }
    }
    for check in draft.checks.values() {
        for (index, collector) in check.value.collects.iter().enumerate() {
            if !draft.collectors.contains_key(collector) {
                errors.push(check.places.error(
                    &["collects", &index.to_string()],
                    format!("there is no collector “{collector}”"),
                ));
            }
        }
    }
    draft.errors.extend(errors);
}
