use leptos::prelude::*;

use super::{Mark, Sign};

/// Asks a page's resource for a new value: never two calls at once, and one more afterwards if
/// something changed meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Refetch {
    turn: RwSignal<u32>,
    busy: StoredValue<bool>,
    again: StoredValue<bool>,
}

impl Refetch {
    pub(crate) fn new() -> Self {
        Self {
            turn: RwSignal::new(0),
            busy: StoredValue::new(false),
            again: StoredValue::new(false),
        }
    }

    /// To be read in the resource's source.
    pub(crate) fn turn(self) -> u32 {
        self.turn.get()
    }

    /// Something changed. The page may be gone by the time this is called; then nothing happens.
    pub(crate) fn ask(self) {
        if self.busy.try_get_value() == Some(true) {
            self.again.try_set_value(true);
        } else {
            self.busy.try_set_value(true);
            self.turn.try_update(|n| *n = n.wrapping_add(1));
        }
    }

    /// To be called by the resource's fetcher at its end.
    pub(crate) fn done(self) {
        self.busy.try_set_value(false);
        if self.again.try_get_value() == Some(true) {
            self.again.try_set_value(false);
            self.ask();
        }
    }
}

/// Follows an event stream of the server: asks for a new value on each message that is newer than
/// what is shown. `source` gives the path and the version that is shown, or nothing while there is
/// nothing to follow.
pub(crate) fn use_live(
    source: impl Fn() -> Option<(String, i64)> + 'static,
    refetch: Refetch,
) -> Signal<Following> {
    let state = RwSignal::new(Following::Newest);
    #[cfg(feature = "hydrate")]
    browser::follow(source, refetch, state);
    #[cfg(not(feature = "hydrate"))]
    let _ = (source, refetch);
    state.into()
}

/// Whether what is shown is the newest.
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "only a browser can lose its connection")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// As far as is known.
    Newest,
    /// The connection is lost; it is tried again.
    Lost,
    /// What is shown was removed.
    Gone,
}

#[cfg(feature = "hydrate")]
mod browser {
    use std::time::Duration;

    use leptos::prelude::*;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Event, EventSource, MessageEvent};

    use super::{Following, Refetch};

    const WAIT: Duration = Duration::from_secs(1);

    /// An open stream. Closed when it is dropped.
    struct Stream {
        path: String,
        source: EventSource,
        _message: Closure<dyn FnMut(MessageEvent)>,
        _event: Closure<dyn FnMut(Event)>,
    }

    impl Drop for Stream {
        fn drop(&mut self) {
            self.source.set_onmessage(None);
            self.source.set_onerror(None);
            self.source.set_onopen(None);
            self.source.close();
        }
    }

    pub(super) fn follow(
        source: impl Fn() -> Option<(String, i64)> + 'static,
        refetch: Refetch,
        state: RwSignal<Following>,
    ) {
        let stream = StoredValue::new_local(None::<Stream>);
        // The newest version that is shown; a reconnection begins after it.
        let shown = StoredValue::new(0_i64);
        // Rises when a lost connection is to be made anew.
        let again = RwSignal::new(0_u32);
        let tries = StoredValue::new(0_u32);
        Effect::new(move |before: Option<u32>| {
            let attempt = again.get();
            let wanted = source();
            if let Some((_, version)) = &wanted {
                shown.set_value(*version);
            }
            let same = stream.with_value(|s| match (s, &wanted) {
                (Some(open), Some((path, _))) => open.path == *path && before == Some(attempt),
                (None, None) => true,
                _ => false,
            });
            if !same {
                stream.set_value(None);
                if let Some((path, version)) = wanted {
                    stream.set_value(open(path, version, refetch, shown, state, tries, again));
                }
            }
            attempt
        });
        on_cleanup(move || {
            stream.try_update_value(|s| *s = None);
        });
    }

    fn open(
        path: String,
        after: i64,
        refetch: Refetch,
        shown: StoredValue<i64>,
        state: RwSignal<Following>,
        tries: StoredValue<u32>,
        again: RwSignal<u32>,
    ) -> Option<Stream> {
        let source = EventSource::new(&format!("{path}?after={after}")).ok()?;
        let message = {
            let source = source.clone();
            Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                let news = event.data().as_string().unwrap_or_default();
                if news == "gone" {
                    // Asking again would only be answered with an error.
                    source.close();
                    state.try_set(Following::Gone);
                    return;
                }
                let known = shown.try_get_value().unwrap_or(i64::MAX);
                if news.parse::<i64>().is_ok_and(|version| version > known) {
                    refetch.ask();
                }
            })
        };
        let event = {
            let source = source.clone();
            Closure::<dyn FnMut(Event)>::new(move |event: Event| {
                if event.type_() == "open" {
                    state.try_set(Following::Newest);
                    if tries.try_get_value().unwrap_or(0) > 0 {
                        tries.try_set_value(0);
                    }
                    return;
                }
                // The browser would try again with the old `after`: make a new stream instead.
                source.close();
                let n = tries.try_get_value().unwrap_or(0).saturating_add(1);
                tries.try_set_value(n);
                state.try_set(Following::Lost);
                set_timeout(
                    move || {
                        again.try_update(|n| *n = n.wrapping_add(1));
                    },
                    WAIT * n.min(10),
                );
            })
        };
        source.set_onmessage(Some(message.as_ref().unchecked_ref()));
        source.set_onopen(Some(event.as_ref().unchecked_ref()));
        source.set_onerror(Some(event.as_ref().unchecked_ref()));
        Some(Stream {
            path,
            source,
            _message: message,
            _event: event,
        })
    }
}

/// Says when what is shown may be old.
#[component]
pub(crate) fn LiveNote(state: Signal<Following>) -> impl IntoView {
    let words = move || match state.get() {
        Following::Newest => "",
        Following::Lost => {
            "Live updates lost, trying again. What you see may be old; what runs on the hosts goes on."
        }
        Following::Gone => {
            "This was removed meanwhile. What you see is how it was; nothing here can be done any more."
        }
    };
    view! {
        <p
            class="note flex gap-2 mb-3 bg-panel"
            role="status"
            hidden=move || state.get() == Following::Newest
        >
            <Mark sign=Sign::Warn />
            <span>{words}</span>
        </p>
    }
}

/// Reloads the page every 2 seconds where there is no JavaScript, while something runs. As text,
/// because a browser with JavaScript keeps the content of `noscript` as text.
#[component]
pub(crate) fn RefreshWithoutScript(when: bool) -> impl IntoView {
    view! {
        <noscript inner_html=if when {
            r#"<meta http-equiv="refresh" content="2">"#
        } else {
            ""
        }></noscript>
    }
}
