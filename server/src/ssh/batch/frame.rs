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
            open: caps
                .iter()
                .map(|c| c.saturating_add(1))
                .enumerate()
                .collect(),
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
                return Err(Corrupt(
                    "the host sends bytes without end before the first frame",
                ));
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
        whole
            .parse::<u64>()
            .ok()?
            .checked_mul(100)?
            .checked_add(part)
    };
    hundredths(end)?
        .checked_sub(hundredths(start)?)?
        .checked_mul(10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const N: &str = "0123abcd";

    fn decode(pieces: &[&[u8]], caps: &[u64]) -> (Vec<Event>, Result<(), Corrupt>) {
        let (mut decoder, mut events) = (Decoder::new(N, caps), Vec::new());
        for piece in pieces {
            if let Err(error) = decoder.push(piece, &mut events) {
                return (events, Err(error));
            }
        }
        (events, Ok(()))
    }

    fn frame(index: usize, stdout: &[u8], stderr: &[u8]) -> Frame {
        Frame {
            index,
            how: How::Ran,
            code: 0,
            took_ms: Some(1230),
            stdout: stdout.to_vec(),
            stderr: stderr.to_vec(),
        }
    }

    fn wire(frames: &[Frame]) -> Vec<u8> {
        let mut bytes = format!("{N} begin\n").into_bytes();
        for f in frames {
            let (out, err) = (f.stdout.len(), f.stderr.len());
            bytes.extend(format!("{N} {} ran 0 10.00 11.23 {out} {err}\n", f.index).bytes());
            bytes.extend(&f.stdout);
            bytes.extend(&f.stderr);
        }
        bytes.extend(format!("{N} end\n").bytes());
        bytes
    }

    #[test]
    fn greetings_before_and_anything_after_are_skipped() {
        let mut bytes = b"Last login: today\r\n\x1b[0m$ ".to_vec();
        bytes.extend(wire(&[frame(0, b"a", b"b")]));
        bytes.extend(b"logout\n0123abcd 0 ran 0 1.00 1.00 1 0\nx");
        let (events, result) = decode(&[&bytes], &[10]);
        assert_eq!(result, Ok(()));
        assert_eq!(
            events,
            [
                Event::Began,
                Event::Frame(frame(0, b"a", b"b")),
                Event::Ended
            ]
        );
    }

    #[test]
    fn a_greeting_without_end_is_refused() {
        let (_, result) = decode(&[&vec![b'x'; 70_000]], &[1]);
        assert!(result.is_err());
    }

    #[test]
    fn what_does_not_fit_the_format_is_refused() {
        for line in [
            "hello\n",
            "0123abcd 0 ran 0 1.00 1.00 12 0\n",
            "0123abcd 0 ran 0 1.00 1.00 18446744073709551615 0\n",
            "0123abcd 0 ran 0 1.00 1.00 99999999999999999999999 0\n",
            "0123abcd 0 ran 0 1.00 1.00 -1 0\n",
            "0123abcd 1 ran 0 1.00 1.00 0 0\n",
            "0123abcd 0 won 0 1.00 1.00 0 0\n",
            "0123abcd 0 ran x 1.00 1.00 0 0\n",
            "0123abcd 0 ran 0 1.00 1.00 0\n",
            "0123abcd 0 ran 0 1.00 1.00 0 0\n0123abcd 0 ran 0 1.00 1.00 0 0\n",
            "0123abce end\n",
            "\n",
            "\u{ff}\n",
        ] {
            let bytes = format!("{N} begin\n{line}");
            let (events, result) = decode(&[bytes.as_bytes()], &[10]);
            assert!(result.is_err(), "{line:?} gave {events:?}");
        }
        let endless = format!("{N} begin\n{}", "0".repeat(300));
        assert!(decode(&[endless.as_bytes()], &[10]).1.is_err());
    }

    #[test]
    fn half_a_frame_is_no_event() {
        let bytes = wire(&[frame(0, b"abcdef", b"")]);
        let short = &bytes[..bytes.len() - 16];
        assert_eq!(decode(&[short], &[10]).0, [Event::Began]);
    }

    #[test]
    fn a_host_that_lacks_something_is_heard() {
        let (events, _) = decode(&[b"hi\n0123abcd lacks head\n"], &[1]);
        assert_eq!(events, [Event::Lacks("head".into())]);
    }

    #[test]
    fn a_host_without_uptime_has_no_time() {
        assert_eq!(took_ms("-", "-"), None);
        assert_eq!(took_ms("5.09", "5.01"), None);
        assert_eq!(took_ms("0.08", "1.09"), Some(1010));
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(
            out in prop::collection::vec(any::<u8>(), 0..200),
            err in prop::collection::vec(any::<u8>(), 0..50),
            step in 1_usize..40,
        ) {
            // An output that holds a whole forged batch is an output.
            let mut forged = wire(&[frame(1, b"evil", b"")]);
            forged.extend(&out);
            let frames = [frame(1, &forged, &err), frame(0, &err, &out)];
            let bytes = wire(&frames);
            let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
            let (events, result) = decode(&pieces, &[400, 400]);
            prop_assert_eq!(result, Ok(()));
            let [one, two] = frames;
            prop_assert_eq!(events, vec![Event::Began, Event::Frame(one), Event::Frame(two), Event::Ended]);
        }

        #[test]
        fn no_bytes_make_it_panic(
            tail in prop::collection::vec(any::<u8>(), 0..300),
            words in "(0123abcd |begin|end|ran|late|[0-9]{1,20}| |\n|\\.|-){0,40}",
            step in 1_usize..50,
        ) {
            let mut bytes = format!("{N} begin\n{words}").into_bytes();
            bytes.extend(tail);
            let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
            let (events, _) = decode(&pieces, &[20, 20]);
            for event in events {
                if let Event::Frame(frame) = event {
                    prop_assert!(frame.stdout.len() <= 21 && frame.stderr.len() <= 21);
                }
            }
        }
    }
}
