//! Raw bytes from a host as text for a page: nothing in it can act, everything in it can be seen.

use app::runs::OutputText;

/// At most this much of an output is ever put into a page; the rest is a download.
const PAGE_CAP: u64 = 256 << 10;

/// The beginning of an output, with every control character but newline and tab as its escape.
/// HTML escaping is the page's own.
#[must_use]
pub(super) fn output_text(bytes: &[u8], most: u64) -> OutputText {
    let shown = usize::try_from(most.min(PAGE_CAP))
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    let part = bytes.get(..shown).unwrap_or(bytes);
    let mut text = String::with_capacity(shown);
    let mut escaped = false;
    for chunk in part.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => text.push(c),
                '\r' => {
                    text.push_str("\\r");
                    escaped = true;
                }
                c if c.is_control() || is_invisible(c) => {
                    text.extend(c.escape_unicode());
                    escaped = true;
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
            escaped = true;
        }
    }
    OutputText {
        text,
        bytes: bytes.len() as u64,
        shown: shown as u64,
        escaped,
    }
}

/// Characters that change how others are read: directional overrides and zero-width ones.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::output_text;

    #[test]
    fn nothing_that_a_host_prints_can_act_or_hide() {
        for (bytes, text, escaped) in [
            (&b"plain\n\ttext"[..], "plain\n\ttext", false),
            (b"\x1b[31mred", "\\u{1b}[31mred", true),
            (b"a\0b", "a\\u{0}b", true),
            (b"\xff\xfe", "\\xff\\xfe", true),
            (b"x\r\ny", "x\\r\ny", true),
            ("\u{202e}evil".as_bytes(), "\\u{202e}evil", true),
            ("Grüße".as_bytes(), "Grüße", false),
        ] {
            let made = output_text(bytes, 1000);
            assert_eq!((made.text.as_str(), made.escaped), (text, escaped));
        }
    }

    #[test]
    fn a_long_output_is_cut_and_says_so() {
        let made = output_text(&[b'x'; 5000], 100);
        assert_eq!((made.bytes, made.shown, made.text.len()), (5000, 100, 100));
        assert_eq!(output_text(&[b'x'; 1 << 20], u64::MAX).shown, 256 << 10);
    }
}
