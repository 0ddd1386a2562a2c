//! As much of HTTP/1.1 as Provost's programs speak.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;

/// What stands in a head, each with its value, as it came.
type Headers = Vec<(String, String)>;

/// A request, whole.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST` …
    pub method: String,
    /// From the slash on.
    pub path: String,
    /// What stands in its head.
    pub headers: Headers,
    /// What came with it.
    pub body: Vec<u8>,
}

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Such as 200.
    pub status: u16,
    /// What stands in its head, apart from what tells where the body ends.
    pub headers: Headers,
    /// What comes with it.
    pub body: Vec<u8>,
}

impl Request {
    /// Reads the next request of a connection. None at its end.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some((line, headers)) = head(from)? else { return Ok(None) };
        let mut words = line.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::Error::other(format!("{line:?} is no request")));
        };
        let mut body = vec![0; length(&headers).unwrap_or(0)];
        from.read_exact(&mut body)?;
        Ok(Some(Self { method, path, headers, body }))
    }

    /// Sends it on to `address` and reads the answer to its end.
    pub(super) fn send_on(&self, address: &str) -> io::Result<Answer> {
        let stream = TcpStream::connect(address)?;
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in self.headers.iter().filter(|(name, _)| name != "connection") {
            text += &format!("{name}: {value}\r\n");
        }
        text += "connection: close\r\n\r\n";
        (&stream).write_all(&[text.as_bytes(), &self.body].concat())?;
        Answer::read(&mut io::BufReader::new(stream))
    }

    /// What its head says about `name`, which is in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

impl Answer {
    /// An answer of so many words.
    pub(super) fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into() }
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (line, mut headers) = head(from)?.ok_or_else(cut)?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(cut)?;
        if headers.iter().any(|(name, _)| name == "transfer-encoding") {
            return Err(io::Error::other("answers in pieces aren't understood here"));
        }
        let mut body = Vec::new();
        let said = length(&headers).filter(|_| has_body(status));
        from.take(said.map_or(u64::MAX, |n| n as u64)).read_to_end(&mut body)?;
        if said.is_some_and(|said| said > body.len()) {
            return Err(cut());
        }
        headers.retain(|(name, _)| !matches!(name.as_str(), "content-length" | "connection"));
        Ok(Self { status, headers, body })
    }

    /// What goes before the body, which it says is `length` bytes long.
    pub(super) fn head(&self, length: usize) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} -\r\n", self.status);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        if has_body(self.status) {
            text += &format!("content-length: {length}\r\n");
        }
        (text + "\r\n").into_bytes()
    }
}

fn has_body(status: u16) -> bool {
    !matches!(status, 204 | 304)
}

fn length(headers: &Headers) -> Option<usize> {
    let length = headers.iter().find(|(name, _)| name == "content-length")?;
    length.1.parse().ok()
}

/// The first line, and what follows it up to the body. None at the end of the connection.
fn head(from: &mut impl BufRead) -> io::Result<Option<(String, Headers)>> {
    let mut line = || {
        let mut line = String::new();
        Ok::<_, io::Error>((from.read_line(&mut line)? > 0).then(|| line.trim_end().to_owned()))
    };
    let Some(first) = line()? else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        match line()?.as_deref() {
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some("") => return Ok(Some((first, headers))),
            Some(text) => {
                let (name, value) = text.split_once(':').unwrap_or((text, ""));
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }
}
