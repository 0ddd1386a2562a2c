//! The install monitor of xCAT's management node: TCP, a greeting, one line, one answer.
//!
//! It serves one node after the other, and closes the connection without a greeting where it doesn't
//! find a node's name for the address of the peer.

use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use provost_record::Cause;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use provost_http::one_line;
use provost_http::resolve::Names;
use provost_node::failure::Failure;
use provost_node::settings::Settings;

/// How long the answer may take. It comes before the monitor acts.
const DONE: Duration = Duration::from_secs(10);
/// The longest line that is read, in bytes.
const LINE: usize = 256;
/// How a script ends, and the most bytes of one.
const SCRIPTS_END: &str = "#END OF SCRIPT\n";
const LONGEST: u64 = 4 << 20;
const CLOSED: &str = "it closed the connection without an answer";

/// The monitors of the management nodes, in order.
pub(crate) struct Monitor {
    servers: Vec<(Url, u16)>,
    names: Names,
    connect: Duration,
    ready: Duration,
    node: String,
}

/// The `mypostscript` of this node from the monitor on the host of `server`, where xcatd and this node
/// have no TLS cipher in common. It waits until `deadline`: the monitor serves one node after the other,
/// and makes the script on request.
pub(crate) async fn getpostscript(
    settings: &Settings,
    port: u16,
    server: &Url,
    deadline: Instant,
) -> Result<String, Failure> {
    let limit = deadline.saturating_duration_since(Instant::now());
    let mut monitor = Monitor::new(settings, port, limit);
    (monitor.servers, monitor.ready) = (vec![(server.clone(), port)], limit);
    monitor.ready().await?.ask("getpostscript", deadline).await
}

/// A monitor that has greeted, and waits for our line.
pub(crate) struct GreetedMonitor {
    stream: TcpStream,
    name: String,
}

impl Monitor {
    /// The monitors of the hosts of `servers`, at `port`. All greetings together may take `ready`.
    pub(crate) fn new(settings: &Settings, port: u16, ready: Duration) -> Self {
        let mut servers: Vec<(Url, u16)> =
            settings.servers.iter().map(|url| (url.clone(), port)).collect();
        // Two web servers of one host have one monitor.
        servers.dedup_by(|a, b| a.0.host() == b.0.host());
        let ready = ready / u32::try_from(servers.len()).unwrap_or(1).max(1);
        let limit = settings.fetch.connect;
        let (names, connect) = (Names::new(limit), limit.duration());
        Self { servers, names, connect, ready, node: settings.node.clone() }
    }

    /// Waits for the greeting of the first that greets.
    pub(crate) async fn ready(&self) -> Result<GreetedMonitor, Failure> {
        let mut failure = None;
        for (url, port) in &self.servers {
            let name = format!("{}:{port}", url.host_str().unwrap_or_default());
            match self.greeted(url, *port, name).await {
                Ok(greeted) => return Ok(greeted),
                Err(e) => failure = failure.or(Some(e)),
            }
        }
        let nobody = || Failure::config("there is no server to send it to", "set `servers`");
        Err(failure.unwrap_or_else(nobody))
    }

    async fn greeted(&self, url: &Url, port: u16, name: String) -> Result<GreetedMonitor, Failure> {
        let failed = |why: &str, hint: &str| failed(&name, why, hint);
        let down = "check that xcatd runs there, and that no firewall is between: systemctl status \
                    xcatd";
        let mut stream = match timeout(self.connect, self.connected(url, port)).await {
            Ok(connected) => connected.map_err(|(why, hint)| failed(&why, hint.unwrap_or(down)))?,
            Err(_) => {
                let why = format!("not connected within {} s", self.connect.as_secs_f32());
                return Err(failed(&why, down));
            }
        };
        match timeout(self.ready, line(&mut stream)).await {
            Ok(Ok(text)) if text == "ready" => Ok(GreetedMonitor { stream, name }),
            Ok(Ok(text)) if text.is_empty() => {
                let node = &self.node;
                Err(failed(
                    "it closed the connection without a greeting, as to an address of no node",
                    &format!(
                        "see on the management node that this node's address has the name {node} \
                         again: getent hosts ADDRESS; if not: makehosts {node}, makedns {node}"
                    ),
                ))
            }
            Ok(Ok(text)) => Err(no_monitor(&name, &text)),
            Ok(Err(e)) => Err(failed(&format!("waiting for its greeting: {e}"), down)),
            Err(_) => Err(failed(
                &format!("no greeting within {} s", self.ready.as_secs()),
                "restart it if it hangs: systemctl restart xcatd",
            )),
        }
    }

    async fn connected(
        &self,
        url: &Url,
        port: u16,
    ) -> Result<TcpStream, (String, Option<&'static str>)> {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => {
                let unknown =
                    |e: provost_http::resolve::Unresolved| (e.to_string(), Some(e.hint()));
                self.names.look_up(host).await.map_err(unknown)?
            }
        };
        let mut why = String::new();
        for address in addresses {
            match TcpStream::connect(SocketAddr::new(address, port)).await {
                Ok(stream) => return Ok(stream),
                Err(e) => why = e.to_string(),
            }
        }
        Err((why, None))
    }
}

impl GreetedMonitor {
    /// Its host and port.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Sends `words`, and waits until they are read. The monitor doesn't say whether it did anything.
    pub(crate) async fn send(mut self, words: &str) -> Result<(), Failure> {
        let name = self.name;
        let sent = async {
            self.stream.write_all(format!("{words}\n").as_bytes()).await?;
            line(&mut self.stream).await
        };
        let busy = "restart it if it hangs: systemctl restart xcatd";
        match timeout(DONE, sent).await {
            Ok(Ok(text)) if text == "done" => Ok(()),
            Ok(Ok(text)) if text.is_empty() => Err(failed(&name, CLOSED, busy)),
            // It was gone before our line came.
            Ok(Err(e)) if matches!(e.kind(), ConnectionReset | BrokenPipe) => {
                Err(failed(&name, CLOSED, busy))
            }
            Ok(Ok(text)) => Err(no_monitor(&name, &text)),
            Ok(Err(e)) => Err(failed(&name, &format!("waiting for its answer: {e}"), busy)),
            Err(_) => Err(failed(&name, &format!("no answer within {} s", DONE.as_secs()), busy)),
        }
    }

    /// Sends `words`, and returns the script that is the answer, if it comes until `deadline`.
    async fn ask(mut self, words: &str, deadline: Instant) -> Result<String, Failure> {
        let mut text = Vec::new();
        let asked = async {
            self.stream.write_all(format!("{words}\n").as_bytes()).await?;
            let mut stream = (&mut self.stream).take(LONGEST);
            while !text.ends_with(SCRIPTS_END.as_bytes()) && stream.read_buf(&mut text).await? > 0 {
            }
            std::io::Result::Ok(())
        };
        let begun = Instant::now();
        let why = match timeout_at(deadline, asked).await {
            Ok(Err(e)) => e.to_string(),
            Ok(Ok(())) => format!("no script, but {} bytes without its end", text.len()),
            Err(_) => format!("no script within {} s", begun.elapsed().as_secs()),
        };
        let text = String::from_utf8_lossy(&text);
        let script = text.strip_suffix(SCRIPTS_END).map(|text| text.trim_start_matches("done\n"));
        let hint = "check that lsdef on the management node knows this node by that address";
        script.map(str::to_owned).ok_or_else(|| failed(&self.name, &why, hint))
    }
}

fn failed(name: &str, why: &str, hint: &str) -> Failure {
    Failure::new(Cause::Fetch, format!("{name}: {why}"), hint)
}

fn no_monitor(name: &str, text: &str) -> Failure {
    let hint = "check that `monitor_port` under [source] is the port of xCAT's install monitor \
                (site table: xcatiport)";
    failed(name, &format!("unexpected response {:?}", one_line(text)), hint)
}

/// Reads a line without its end, or an empty one where the peer closes first. A longer line is cut.
async fn line(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    while bytes.len() < LINE {
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 || byte == *b"\n" {
            break;
        }
        bytes.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}
