//! What an installer needs first: the nodes' program, the address that serves it, and the
//! publisher's key; and `install.sh`, which is made of them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use provost_api::{admins as api, published};
use provost_bundle::{Digest, Manifest};
use provost_installer::Script;
use provost_steplog::wording::error_chain;

use super::node_programs::NodePrograms;
use super::program_file::ProgramFile;
use crate::config::Config;
use crate::listener::refusal::Refusal;
use crate::published::PublishedFolder;

/// Addresses for documentation (RFC 5737, RFC 3849): nothing is sent there.
const FAR_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Where that is known from.
#[derive(Clone)]
pub(crate) struct Installer {
    pub(crate) www: PublishedFolder,
    pub(crate) programs: Arc<NodePrograms>,
    /// The address of the nodes' listener.
    pub(crate) nodes_at: SocketAddr,
    /// The URLs that the configuration has in place of that.
    pub(crate) servers: Vec<String>,
}

impl Installer {
    pub(crate) async fn needs(&self) -> Result<api::Installer, Refusal> {
        let path = self.www.join(published::MANIFEST);
        let manifest = tokio::fs::read(&path).await;
        let manifest = parse(&path, manifest)?;
        let digests = self.programs.digests().await?;
        Ok(needs(self.server(), manifest, digests.into_iter()))
    }

    /// Where nodes reach it, as `PROVOST_SERVER` has it.
    fn server(&self) -> Option<String> {
        server(&self.servers, self.nodes_at)
    }
}

/// `GET /install.sh`.
pub(crate) async fn install_sh(
    State(installer): State<Installer>,
) -> Result<impl IntoResponse, Refusal> {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A cache asks each time: another program on this machine makes it another script.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    let text = script(&installer.needs().await?)?;
    Ok((headers, text))
}

/// The same without a daemon. It changes nothing.
pub(crate) fn install_sh_of(config: &Config) -> Result<String, Refusal> {
    let path = config.www.join(published::MANIFEST);
    let manifest = parse(&path, fs::read(&path))?;
    let mut digests = BTreeMap::new();
    for file in ProgramFile::all(&config.node) {
        let Ok(bytes) = fs::read(&file.path) else { continue };
        if let Ok(architecture) = file.architecture(&bytes) {
            digests.insert(architecture, Digest::of(&bytes));
        }
    }
    let server = server(&config.node.servers, config.listen);
    script(&needs(server, manifest, digests.into_iter()))
}

fn parse(path: &Path, text: io::Result<Vec<u8>>) -> Result<Manifest, Refusal> {
    let unpublished = |e: &dyn std::error::Error| {
        Refusal::new(
            StatusCode::NOT_FOUND,
            format!("reading the key from {}: {}", path.display(), error_chain(e)),
            "publish first: provostctl publish",
        )
    };
    Manifest::parse(&text.map_err(|e| unpublished(&e))?).map_err(|e| unpublished(&e))
}

fn needs(
    server: Option<String>,
    manifest: Manifest,
    digests: impl Iterator<Item = (String, Digest)>,
) -> api::Installer {
    let programs: BTreeMap<String, String> =
        digests.map(|(arch, digest)| (arch, digest.to_string())).collect();
    let sha256 = programs.get("x86_64").or_else(|| programs.values().next());
    let needs = api::Installer {
        server,
        key: manifest.key,
        sha256: sha256.cloned().unwrap_or_default(),
        programs,
        generation: manifest.generation,
        tls: manifest.tls.is_some(),
        install_sh: None,
    };
    let install_sh = script(&needs).ok().map(|text| Digest::of(text.as_bytes()).to_string());
    api::Installer { install_sh, ..needs }
}

/// The text of `install.sh`. The generation isn't in it, which would make each publication another script: what
/// expires is refused in any case.
fn script(needs: &api::Installer) -> Result<String, Refusal> {
    let refuse = |error: &str, hint: &str| Err(Refusal::new(StatusCode::NOT_FOUND, error, hint));
    let Some(servers) = &needs.server else {
        let hint = "name it on the management node: servers under [node] in provostd.toml";
        return refuse("serving install.sh: this machine has no address for nodes", hint);
    };
    if needs.programs.is_empty() {
        let hint = "on the management node: install the package provost-server whole";
        return refuse("serving install.sh: there is no program for nodes", hint);
    }
    let values = vec![("PROVOST_SERVER", servers.clone()), ("PROVOST_KEY", needs.key.clone())];
    let first = servers.split(',').next().unwrap_or_default();
    Ok(Script { values, programs: &needs.programs }.install_sh(first))
}

fn server(servers: &[String], nodes_at: SocketAddr) -> Option<String> {
    match servers.is_empty() {
        true => address(nodes_at).ok(),
        false => Some(servers.join(",")),
    }
}

/// The address at which other machines reach the listener that is bound to `bound`. For one that is
/// bound to all addresses it is the address of the default route.
fn address(bound: SocketAddr) -> io::Result<String> {
    let (here, far): (SocketAddr, SocketAddr) = match bound {
        SocketAddr::V4(_) => ((Ipv4Addr::UNSPECIFIED, 0).into(), (FAR_V4, 9).into()),
        SocketAddr::V6(_) => ((Ipv6Addr::UNSPECIFIED, 0).into(), (FAR_V6, 9).into()),
    };
    let mut at = bound;
    if bound.ip().is_unspecified() {
        let socket = UdpSocket::bind(here)?;
        socket.connect(far)?;
        at.set_ip(socket.local_addr()?.ip());
    }
    Ok(format!("http://{at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_address_is_the_address() {
        assert_eq!(address(([10, 0, 0, 1], 8480).into()).unwrap(), "http://10.0.0.1:8480");
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 80));
        assert_eq!(address(v6).unwrap(), "http://[::1]:80");
        if let Ok(found) = address(([0, 0, 0, 0], 8480).into()) {
            assert!(!found.contains("0.0.0.0") && found.ends_with(":8480"), "{found}");
        }
    }
}
