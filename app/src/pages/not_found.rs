use leptos::prelude::*;
use leptos_meta::Title;

use crate::components::ErrorView;
use crate::error::AppError;

#[component]
pub(crate) fn NotFoundPage() -> impl IntoView {
    view! {
        <Title text="Not found" />
        <ErrorView error=AppError::NotFound { what: "This page".into() } />
    }
    .into_any()
}
