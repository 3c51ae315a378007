//! Runs one batch over one channel of a connection.

use std::time::{Duration, Instant};

use diagnosis::connection::ConnectionStatus;
use diagnosis::run::{Command, NotRun, RunResult};
use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::batch::{self, Decoder, Event};

/// What the host gets beyond its commands' limits: to start, to end what does not want to end, and to
/// send.
const GRACE: Duration = Duration::from_secs(20);
/// How long a cancelled host may take to end its commands. Results that still come in are kept.
const CANCEL: Duration = Duration::from_millis(1800);
/// How long a channel may take to close once nothing more is wanted of it.
const CLOSE: Duration = Duration::from_secs(5);
/// More than this on stderr, where the script is silent, is no host of ours.
const STDERR: usize = 1 << 20;

/// A channel, its two directions apart.
pub(crate) type Halves = (ChannelReadHalf, ChannelWriteHalf<Msg>);

/// The commands of a batch that can run, under their own index, and what is still owed for each.
pub(crate) struct Batch<'a> {
    nonce: String,
    /// The index in the caller's batch, by the index in the script.
    commands: Vec<(usize, &'a Command)>,
    owed: Vec<bool>,
    results: mpsc::UnboundedSender<(usize, RunResult)>,
}

/// Why a batch ended; decides what the commands without a result get.
enum End {
    /// The script came to its own end.
    Whole,
    Cancelled,
    /// The limit of the whole batch passed.
    Late,
    /// The connection was lost, or the stream cannot be believed.
    Broken,
    /// The host could not even start.
    Reason(NotRun),
}

impl<'a> Batch<'a> {
    /// Answers at once for commands that cannot run anywhere.
    pub(crate) fn new(
        commands: &'a [Command],
        results: mpsc::UnboundedSender<(usize, RunResult)>,
    ) -> Self {
        let mut fit = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            match batch::refusal(command) {
                None => fit.push((index, command)),
                Some(reason) => {
                    let _ = results.send((index, RunResult::not_run(reason)));
                }
            }
        }
        Self {
            // From a generator that the operating system's random source seeds.
            nonce: format!(
                "{:016x}{:016x}",
                rand::random::<u64>(),
                rand::random::<u64>()
            ),
            owed: vec![true; fit.len()],
            commands: fit,
            results,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Gives every command without a result this one.
    pub(crate) fn settle(&mut self, reason: &NotRun) {
        for (owed, (index, _)) in self.owed.iter_mut().zip(&self.commands) {
            if std::mem::take(owed) {
                let _ = self
                    .results
                    .send((*index, RunResult::not_run(reason.clone())));
            }
        }
    }

    fn limit(&self) -> Duration {
        let sum = self
            .commands
            .iter()
            .map(|(_, c)| batch::host_limit_ms(c))
            .fold(0, u64::saturating_add);
        // A limit without end would overflow the clock.
        GRACE.saturating_add(Duration::from_millis(sum.min(86_400_000)))
    }

    /// Runs the batch and answers for every command. Gives the channel back, to be closed, and whether
    /// the host kept to the script's format and time.
    pub(crate) async fn run(
        &mut self,
        channel: Channel<Msg>,
        cancel: &CancellationToken,
    ) -> (Halves, bool) {
        let (mut reader, writer) = channel.split();
        let commands: Vec<&Command> = self.commands.iter().map(|(_, c)| *c).collect();
        let script = match batch::render(&self.nonce, &commands) {
            Ok(script) => script,
            Err(error) => {
                self.settle(&NotRun::Denied {
                    detail: error.to_string(),
                });
                return ((reader, writer), true);
            }
        };
        let started = Instant::now();
        let limit = self.limit();
        let end = {
            // Writing and reading go on side by side: a host that writes before it reads would stop both.
            let send = async {
                writer.exec(true, batch::EXEC).await?;
                writer.data_bytes(script.into_bytes()).await?;
                Ok::<(), russh::Error>(())
            };
            let stop = async {
                cancel.cancelled().await;
                // The end of stdin is what tells the script.
                let _ = writer.eof().await;
                tokio::time::sleep(CANCEL).await;
            };
            tokio::pin!(send, stop);
            let mut sent = false;
            let mut read = std::pin::pin!(self.read(&mut reader, started));
            loop {
                tokio::select! {
                    biased;
                    end = &mut read => break end,
                    () = &mut stop => break End::Cancelled,
                    () = sleep_until((started + limit).into()) => break End::Late,
                    result = &mut send, if !sent => {
                        sent = true;
                        if result.is_err() {
                            break End::Broken;
                        }
                    }
                }
            }
        };
        let trusted = !matches!(end, End::Broken | End::Late);
        self.settle(&match end {
            End::Whole | End::Broken if cancel.is_cancelled() => NotRun::Cancelled,
            End::Cancelled => NotRun::Cancelled,
            End::Whole | End::Broken => NotRun::Interrupted,
            End::Late => NotRun::TimedOut {
                after_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            },
            End::Reason(reason) => reason,
        });
        ((reader, writer), trusted)
    }

    /// Reads to the script's end. Never holds more than the caps allow.
    async fn read(&mut self, reader: &mut ChannelReadHalf, started: Instant) -> End {
        let caps: Vec<u64> = self
            .commands
            .iter()
            .map(|(_, c)| batch::wire_cap(c))
            .collect();
        let mut decoder = Decoder::new(&self.nonce, &caps);
        let (mut events, mut complaint, mut complained) = (Vec::new(), Vec::new(), 0_usize);
        let mut began = false;
        while let Some(message) = reader.wait().await {
            match message {
                ChannelMsg::Data { data } => {
                    let pushed = decoder.push(&data, &mut events);
                    for event in events.drain(..) {
                        match event {
                            Event::Began => began = true,
                            Event::Frame(frame) => self.answer(frame, started),
                            Event::Lacks(what) => return End::Reason(lacks(&what)),
                            Event::Ended => return End::Whole,
                        }
                    }
                    if let Err(error) = pushed {
                        tracing::warn!(%error, "a host's answer was cut off");
                        return End::Broken;
                    }
                }
                ChannelMsg::ExtendedData { data, .. } => {
                    complained = complained.saturating_add(data.len());
                    let room = 400_usize.saturating_sub(complaint.len());
                    complaint.extend(data.iter().take(room));
                    if complained > STDERR {
                        return End::Broken;
                    }
                }
                ChannelMsg::Failure => {
                    return End::Reason(NotRun::NoConnection {
                        status: ConnectionStatus::ProtocolError {
                            detail: "the host logs us in, but runs no commands for this user"
                                .into(),
                        },
                    });
                }
                // A login shell that cannot start `sh`, or is no shell (a forced command, nologin).
                ChannelMsg::ExitStatus { exit_status } if !began && exit_status != 0 => {
                    let said = String::from_utf8_lossy(&complaint);
                    let said = said.lines().next().unwrap_or_default().trim();
                    return End::Reason(NotRun::NoConnection {
                        status: ConnectionStatus::ProtocolError {
                            detail: format!("the login ran no shell (status {exit_status}) {said}")
                                .trim_end()
                                .to_owned(),
                        },
                    });
                }
                _ => {}
            }
        }
        End::Broken
    }

    fn answer(&mut self, frame: batch::Frame, started: Instant) {
        let at = frame.index;
        let (Some(owed), Some((index, command))) = (self.owed.get_mut(at), self.commands.get(at))
        else {
            return;
        };
        let timed = frame.took_ms.is_some();
        let mut result = batch::outcome(command, &self.nonce, frame);
        if !timed {
            // A host without a clock: since the batch began, which is the most it can have been.
            result.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        if std::mem::take(owed) {
            let _ = self.results.send((*index, result));
        }
    }
}

fn lacks(what: &str) -> NotRun {
    match what {
        "folder" => NotRun::Denied {
            detail: "no folder for temporary files: /run, /dev/shm and /tmp cannot be written"
                .into(),
        },
        program => NotRun::NotFound {
            program: program.chars().take(40).collect(),
        },
    }
}

/// Ends a channel and waits until the host has closed it: sshd counts it until then. False when the host
/// does not, or is not to be waited for; the connection is then not to be used for more.
///
/// Our own close must not come first: russh 0.65 forgets a channel when it sends the close, so that the
/// host's answer never reaches the reader, which then waits for ever.
pub(crate) async fn close((mut reader, writer): Halves, trusted: bool) -> bool {
    let orderly = async {
        if trusted && writer.eof().await.is_ok() {
            while reader.wait().await.is_some() {}
        }
    };
    let closed = trusted && timeout(CLOSE, orderly).await.is_ok();
    if !closed {
        let _ = writer.close().await;
    }
    closed
}
