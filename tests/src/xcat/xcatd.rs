//! xcatd's port for requests in XML over TLS, with its good and its bad habits.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::certificates::{Authority, XCATS_BEGIN};

/// How it answers.
#[derive(Clone, Debug)]
pub enum Habit {
    /// With this mypostscript.
    Serve(String),
    /// With this mypostscript, after so long: it serves others before.
    Late(String, Duration),
    /// With this error.
    Refuse(String),
    /// With the first part of an answer.
    BreakOff,
    /// Not at all: it takes the connection and says nothing.
    Silent,
    /// Not at all, once TLS is there.
    SilentAfterHandshake,
    /// With this mypostscript, to no more than [`MOST_AT_ONCE`] at once. It is so busy that nobody gets an
    /// answer before somebody was turned away.
    Crowded(String),
}

/// How many a crowded xcatd serves at once, by the default of xCAT's site table.
pub const MOST_AT_ONCE: usize = 64;

/// Who is there, and whether somebody was turned away.
#[derive(Default)]
struct Crowd {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Crowd {
    /// Takes one of the places, if there is one.
    fn enter(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let enters = state.0 < MOST_AT_ONCE;
        if enters {
            state.0 += 1
        } else {
            state.1 = true
        }
        self.changed.notify_all();
        enters
    }

    /// Waits until the room was full once.
    fn wait(&self) {
        drop(self.changed.wait_while(self.state.lock().unwrap(), |state| !state.1).unwrap());
    }

    fn leave(&self) {
        self.state.lock().unwrap().0 -= 1;
    }
}

/// A running one.
pub struct Xcatd {
    port: u16,
    certificate: PathBuf,
    requests: Receiver<String>,
}

impl Xcatd {
    /// Starts one with a certificate such as xCAT's, which has no name that a node uses. Its files
    /// are in `folder`.
    pub fn start(folder: &Path, habit: Habit) -> Self {
        let authority = Authority::new(folder);
        let names = "DNS:mn.cluster,DNS:mn";
        Self::start_as(authority.issue("mn.cluster", names, XCATS_BEGIN), habit)
    }

    /// Starts one that has this certificate and its key.
    pub fn start_as((certificate, key): (PathBuf, PathBuf), habit: Habit) -> Self {
        let own = CertificateDer::from_pem_file(&certificate).unwrap();
        let key = PrivateKeyDer::from_pem_file(key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (told, requests) = channel();
        std::thread::spawn(move || {
            // What is silent stays open.
            let mut silent = Vec::new();
            let crowd = Arc::new(Crowd::default());
            for stream in listener.incoming().flatten() {
                if matches!(habit, Habit::Silent) {
                    silent.push(stream);
                    continue;
                }
                let is_crowded = matches!(habit, Habit::Crowded(_));
                if is_crowded && !crowd.enter() {
                    continue;
                }
                let (config, habit, told) = (config.clone(), habit.clone(), told.clone());
                let crowd = crowd.clone();
                std::thread::spawn(move || {
                    if is_crowded {
                        crowd.wait();
                    }
                    let request = answer(config, stream, &habit);
                    if is_crowded {
                        crowd.leave();
                    }
                    let _ = told.send(request.unwrap_or_else(|e| format!("no request: {e}")));
                });
            }
        });
        Self { port, certificate, requests }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its certificate, PEM.
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// How many requests it has had since it was last asked.
    pub fn requests(&self) -> usize {
        self.requests.try_iter().count()
    }

    /// The next request that it has had.
    pub fn request(&self) -> String {
        self.requests.recv_timeout(crate::SOON).unwrap()
    }
}

/// Reads a request and answers it.
fn answer(config: Arc<ServerConfig>, stream: TcpStream, habit: &Habit) -> std::io::Result<String> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let mut request = String::new();
    let mut buffer = [0; 4096];
    while !request.contains("</xcatrequest>") {
        match stream.read(&mut buffer)? {
            0 => return Ok(request),
            n => request += &String::from_utf8_lossy(&buffer[..n]),
        }
    }
    let done = "<xcatresponse>\n<serverdone></serverdone>\n</xcatresponse>\n";
    let text = match habit {
        Habit::Serve(text) | Habit::Crowded(text) | Habit::Late(text, _) => {
            if let Habit::Late(_, late) = habit {
                std::thread::sleep(*late);
            }
            // As an xcatd that indents its XML does.
            let line = |line: &str| format!("  <data>{}\n    </data>\n", escaped(line));
            let data: String = text.lines().map(line).collect();
            format!("<xcatresponse>\n{data}</xcatresponse>\n{done}")
        }
        Habit::Refuse(why) => {
            format!("<xcatresponse>\n<error>{why}</error>\n</xcatresponse>\n{done}")
        }
        Habit::BreakOff => "<xcatresponse>\n<data>NODE=cn1</data>\n".to_owned(),
        Habit::Silent | Habit::SilentAfterHandshake => {
            // Until the other side has had enough.
            let _ = stream.read(&mut buffer);
            return Ok(request);
        }
    };
    stream.write_all(text.as_bytes())?;
    stream.flush()?;
    // As perl does it: without a word.
    Ok(request)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&apos;")
}
