//! Takes the frames of a batch out of a byte stream. Lengths are counted, so nothing a command prints
//! can look like a frame; what does not fit is an error, never half a result.

use std::collections::BTreeMap;

/// Bytes that may come before the first frame: a login shell that greets.
const GREETING: usize = 64 * 1024;
/// A header is a nonce, three words and five numbers.
const HEADER: usize = 256;

/// How the script says a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It ended; the code is the shell's `$?`.
    Ran,
    /// Its limit passed.
    Late,
    /// A program is not there; the code says which: 0 the command's own, 1 lxc-info, 2 nsenter.
    Missing,
    /// As `Missing`, but the file is there and cannot be run.
    Barred,
    /// The container cannot be entered; stderr says why.
    Guest,
    /// `nsenter` ended before the command started; stderr is its own.
    Outside,
    /// The output could not be kept: no space.
    Full,
}

/// One command's end, as the host told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub index: usize,
    pub how: How,
    pub code: i32,
    /// By the host's clock; `None` where it has none.
    pub took_ms: Option<u64>,
    /// At most one byte more than the cap, which then says that there was more.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// What came out of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Began,
    Frame(Frame),
    /// The host lacks what the script needs: a program's name, or `folder`.
    Lacks(String),
    Ended,
}

/// The stream is not what the script writes. Nothing after this can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Corrupt(pub &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Frames,
    Over,
}

/// Reads a batch's stdout, in pieces of any size.
pub struct Decoder {
    nonce: String,
    /// Commands without a frame yet, with the most bytes that either stream may have.
    open: BTreeMap<usize, u64>,
    state: State,
    buffer: Vec<u8>,
    /// A header that was read, and whose bytes are still coming.
    pending: Option<(Frame, usize, usize)>,
    greeted: usize,
}

impl Decoder {
    /// `caps`: per command, the most bytes of each stream.
    #[must_use]
    pub fn new(nonce: &str, caps: &[u64]) -> Self {
        Self {
            nonce: nonce.to_owned(),
            open: caps.iter().map(|c| c.saturating_add(1)).enumerate().collect(),
            state: State::Greeting,
            buffer: Vec::new(),
            pending: None,
            greeted: 0,
        }
    }

    /// # Errors
    /// [`Corrupt`] when the stream breaks the format; the decoder takes nothing more then. Events found
    /// before the break in the same piece come out through `events`.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), Corrupt> {
        if self.state == State::Over {
            return Ok(());
        }
        self.buffer.extend_from_slice(bytes);
        loop {
            let more = match (self.state, self.pending.take()) {
                (State::Over, _) => {
                    self.buffer = Vec::new();
                    false
                }
                (State::Greeting, _) => self.greeting(events)?,
                (State::Frames, Some(pending)) => self.body(pending, events),
                (State::Frames, None) => self.header(events)?,
            };
            if !more {
                return Ok(());
            }
        }
    }

    /// Skips what the login shell prints until `nonce begin` at any place: it may lack a line's end.
    fn greeting(&mut self, events: &mut Vec<Event>) -> Result<bool, Corrupt> {
        let nonce = self.nonce.as_bytes();
        let found = self.buffer.windows(nonce.len()).position(|w| w == nonce);
        let Some(at) = found else {
            let gone = self.buffer.len().saturating_sub(nonce.len());
            self.buffer.drain(..gone);
            self.greeted = self.greeted.saturating_add(gone);
            if self.greeted > GREETING {
                return Err(Corrupt("the host sends bytes without end before the first frame"));
            }
            return Ok(false);
        };
        self.buffer.drain(..at);
        let Some(line) = self.line()? else {
            return Ok(false);
        };
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            [_, "begin"] => {
                self.state = State::Frames;
                events.push(Event::Began);
            }
            [_, "lacks", what] => {
                self.state = State::Over;
                events.push(Event::Lacks((*what).to_owned()));
            }
            _ => return Err(Corrupt("the first line is not the script's")),
        }
        Ok(true)
    }

    fn header(&mut self, events: &mut Vec<Event>) -> Result<bool, Corrupt> {
        let Some(line) = self.line()? else {
            return Ok(false);
        };
        let words: Vec<&str> = line.split(' ').collect();
        let [nonce, rest @ ..] = words.as_slice() else {
            return Err(Corrupt("an empty line between frames"));
        };
        if *nonce != self.nonce {
            return Err(Corrupt("a line between frames is not the script's"));
        }
        match rest {
            ["end"] => {
                self.state = State::Over;
                events.push(Event::Ended);
            }
            [index, how, code, start, end, out, err] => {
                let number = |w: &str| w.parse::<u64>().map_err(|_| Corrupt("not a number"));
                let index = usize::try_from(number(index)?).map_err(|_| Corrupt("no index"))?;
                let cap = self
                    .open
                    .remove(&index)
                    .ok_or(Corrupt("a frame for no command, or a second one"))?;
                let (out, err) = (number(out)?, number(err)?);
                if out > cap || err > cap {
                    return Err(Corrupt("a frame is longer than the cap"));
                }
                let length = |n| usize::try_from(n).map_err(|_| Corrupt("too long"));
                let frame = Frame {
                    index,
                    how: parse_how(how)?,
                    code: code.parse().map_err(|_| Corrupt("not an exit status"))?,
                    took_ms: took_ms(start, end),
                    stdout: Vec::new(),
                    stderr: Vec::new(),
                };
                self.pending = Some((frame, length(out)?, length(err)?));
            }
            _ => return Err(Corrupt("a header has the wrong number of words")),
        }
        Ok(true)
    }

    /// Collects a frame's bytes. They move out of the buffer as they come, so that a big output is not
    /// copied again with every piece.
    fn body(&mut self, pending: (Frame, usize, usize), events: &mut Vec<Event>) -> bool {
        let (mut frame, out, err) = pending;
        for (stream, length) in [(&mut frame.stdout, out), (&mut frame.stderr, err)] {
            let take = length.saturating_sub(stream.len()).min(self.buffer.len());
            stream.extend(self.buffer.drain(..take));
        }
        if frame.stdout.len() == out && frame.stderr.len() == err {
            events.push(Event::Frame(frame));
            return true;
        }
        self.pending = Some((frame, out, err));
        false
    }

    fn line(&mut self) -> Result<Option<String>, Corrupt> {
        let end = self.buffer.iter().take(HEADER).position(|b| *b == b'\n');
        let Some(end) = end else {
            if self.buffer.len() >= HEADER {
                return Err(Corrupt("a line between frames is too long"));
            }
            return Ok(None);
        };
        let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
        line.pop();
        String::from_utf8(line)
            .map(Some)
            .map_err(|_| Corrupt("a line between frames is not text"))
    }
}

fn parse_how(word: &str) -> Result<How, Corrupt> {
    Ok(match word {
        "ran" => How::Ran,
        "late" => How::Late,
        "missing" => How::Missing,
        "barred" => How::Barred,
        "guest" => How::Guest,
        "outside" => How::Outside,
        "full" => How::Full,
        _ => return Err(Corrupt("an unknown word in a header")),
    })
}

/// From two readings of `/proc/uptime`, which has hundredths of a second (proc(5)).
fn took_ms(start: &str, end: &str) -> Option<u64> {
    let hundredths = |text: &str| {
        let (whole, part) = text.split_once('.')?;
        let part: u64 = part.get(..2)?.parse().ok()?;
        whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)
    };
    hundredths(end)?.checked_sub(hundredths(start)?)?.checked_mul(10)
}
