//! The parts that pages are made of.

mod async_view;
mod conclusion;
mod evidence;
mod form;
mod host_key;
mod host_status;
mod live;
mod me;
mod question;
mod raw;
mod rows;
mod run_command;
mod table;
mod time;
mod top_bar;
mod trail;
mod verdict;

pub(crate) use async_view::{AsyncView, ErrorView};
pub(crate) use conclusion::ConclusionPanel;
pub(crate) use evidence::EvidencePanel;
pub(crate) use form::{Field, FormError, Submit, error_of, kept};
pub(crate) use host_key::HostKeyPanel;
pub(crate) use host_status::{GuestsNote, HopList, HostStatus, host_state, reached, tools_text};
pub(crate) use live::{LiveNote, Refetch, RefreshWithoutScript, use_live};
pub(crate) use me::{Me, MoveFocus};
pub(crate) use question::QuestionPanel;
pub(crate) use raw::RawOutput;
pub(crate) use rows::{RunRowItem, SessionRowItem, SymptomCardLink};
pub(crate) use run_command::RunCommandPanel;
pub(crate) use table::FactsTable;
pub(crate) use time::{At, duration, plural};
pub(crate) use top_bar::TopBar;
pub(crate) use trail::StepTrail;
pub(crate) use verdict::{Mark, Sign, SignBadge, VerdictBadge};
