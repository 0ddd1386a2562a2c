use std::io::{self, Read};

use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::bodies;
use super::refusal::Refusal;

/// The largest window of a zstd frame, in bytes: that of level 19.
const MAX_WINDOW: u64 = 8 * 1024 * 1024;

/// How a body is compressed.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    Gzip,
    Zstd,
}

impl Encoding {
    /// The value of `Content-Encoding`; none for a plain body.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        match headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes()) {
            None | Some(b"identity") => Ok(None),
            Some(b"gzip" | b"x-gzip") => Ok(Some(Self::Gzip)),
            Some(b"zstd") => Ok(Some(Self::Zstd)),
            Some(other) => Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("the body is encoded as {:?}", String::from_utf8_lossy(other)),
                "send it plain, or with gzip or zstd",
            )),
        }
    }

    /// Unpacks a body of at most `most` bytes, and allocates no more than that for any input.
    pub(crate) fn unpack(self, packed: &[u8], most: usize) -> Result<Vec<u8>, Refusal> {
        let mut plain = Vec::new();
        let read = match self {
            Self::Gzip => add(MultiGzDecoder::new(packed), most, &mut plain),
            Self::Zstd => frames(packed, most, &mut plain),
        };
        match read {
            Ok(()) if plain.len() > most => Err(bodies::too_long(most)),
            Ok(()) => Ok(plain),
            Err(error) => Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("unpacking the body: {error}"),
                "send it again, or plain; nothing of it was stored",
            )),
        }
    }
}

/// Unpacks one zstd frame after the other.
fn frames(mut packed: &[u8], most: usize, plain: &mut Vec<u8>) -> io::Result<()> {
    while !packed.is_empty() && plain.len() <= most {
        let frame = StreamingDecoder::new_with_max_window_size(&mut packed, MAX_WINDOW);
        add(frame.map_err(io::Error::other)?, most, plain)?;
    }
    Ok(())
}

/// Reads up to one byte more than allowed, so that the caller sees an excess.
fn add(from: impl Read, most: usize, plain: &mut Vec<u8>) -> io::Result<()> {
    from.take((most + 1 - plain.len()) as u64).read_to_end(plain).map(drop)
}
