//! How each fault is done.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::event::{Timespec, poll};

use super::behind::{Behind, file};
use super::{Answer, Fault, Request};

/// What the other side gets in the end, and what was done behind its back.
pub(super) struct Done {
    /// The right answer, where the request was done.
    pub(super) right: Option<Answer>,
    /// Whether the connection can be used again.
    pub(super) goes_on: bool,
}

/// Answers `request` on `stream`, as well as `fault` allows.
pub(super) fn answer(
    stream: &TcpStream,
    request: &Request,
    fault: Option<&Fault>,
    behind: &Behind,
) -> io::Result<Done> {
    let over = |right| Ok(Done { right, goes_on: false });
    let page = |status| Answer::new(status, "text/html", "<html><h1>Oh dear</h1></html>\n");
    let whole = |answer: &Answer| whole(stream, answer);
    let Some(fault) = fault else {
        let answer = behind.answer(request)?;
        whole(&answer)?;
        return Ok(Done { right: Some(answer), goes_on: true });
    };
    match fault {
        Fault::Stall => {
            wait_for_the_end(stream)?;
            return over(None);
        }
        Fault::HalfClose => {
            stream.shutdown(Shutdown::Write)?;
            wait_for_the_end(stream)?;
            return over(None);
        }
        Fault::Status(status) => whole(&page(*status))?,
        Fault::RetryAfter(status, seconds) => {
            let mut answer = page(*status);
            answer.headers.push(("retry-after".to_owned(), seconds.to_string()));
            whole(&answer)?;
        }
        Fault::Later(seconds) => {
            let mut answer = behind.answer(request)?;
            answer.headers.push(("retry-after".to_owned(), seconds.to_string()));
            whole(&answer)?;
            return Ok(Done { right: Some(answer), goes_on: true });
        }
        Fault::ErrorPage => whole(&page(200))?,
        Fault::Replay(folder) => whole(&file(folder, request))?,
        Fault::Swallow => return over(Some(behind.answer(request)?)),
        Fault::Belie(status) => {
            let answer = behind.answer(request)?;
            whole(&page(*status))?;
            return Ok(Done { right: Some(answer), goes_on: true });
        }
        Fault::Reset(_)
        | Fault::Truncate(_)
        | Fault::WrongLength(_)
        | Fault::Drip(..)
        | Fault::Flip(_) => {
            let answer = behind.answer(request)?;
            let goes_on = spoil(stream, &answer, fault)?;
            return Ok(Done { right: Some(answer), goes_on });
        }
    }
    Ok(Done { right: None, goes_on: true })
}

/// Sends the right answer in the wrong way. Says whether the connection can be used again.
fn spoil(mut stream: &TcpStream, answer: &Answer, fault: &Fault) -> io::Result<bool> {
    let body = &answer.body;
    let head = answer.head(body.len());
    match fault {
        Fault::Reset(n) => {
            let text = [&head, body.as_slice()].concat();
            stream.write_all(&text[..text.len().min(*n)])?;
            // Closing it sends the reset: what is on the way may be lost, too.
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
            Ok(false)
        }
        Fault::Truncate(n) => {
            stream.write_all(&[&head, &body[..body.len().min(*n)]].concat())?;
            Ok(false)
        }
        Fault::WrongLength(n) => {
            stream.write_all(&answer.head(body.len().saturating_add_signed(*n)))?;
            stream.write_all(body)?;
            Ok(false)
        }
        Fault::Drip(pieces, pause) => {
            stream.write_all(&head)?;
            for piece in body.chunks(body.len().div_ceil(*pieces).max(1)) {
                let pause = Timespec::try_from(*pause).map_err(io::Error::other)?;
                poll(&mut [], Some(&pause))?;
                stream.write_all(piece)?;
            }
            Ok(true)
        }
        Fault::Flip(n) => {
            let mut body = body.clone();
            let at = n % body.len().max(1);
            body.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
            stream.write_all(&[head, body].concat())?;
            Ok(true)
        }
        _ => unreachable!("not a way of sending an answer"),
    }
}

fn whole(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    stream.write_all(&[&answer.head(answer.body.len()), answer.body.as_slice()].concat())
}

fn wait_for_the_end(mut stream: &TcpStream) -> io::Result<()> {
    io::copy(&mut stream, &mut io::sink()).map(drop)
}
