use provost_api::{Directive, ErrorBody, headers, published};
use provost_steplog::wording;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use provost_bundle::{Manifest, Trust};
use provost_plan::Plan;
use provost_record::{Cause, Service};
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode, Url};

use crate::xcat;
use provost_http::{Client, ShownIdentity, body, http_date};
use provost_node::failure::Failure;
use provost_node::fetch::generations::{check_generations, has_seen};
use provost_node::fetch::{Server, broken, fresh, keys, secrets};
use provost_node::finding::{Finding, ServerCheck};
use provost_node::settings::Settings;
use provost_node::state::attempts::held_there;

/// How long each server, and this machine's own disks, may take. All are asked at once.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// How far a node's clock may be off. No node that asks a time server is; beyond it records of
/// several nodes stand in a wrong order, and certificates and leases begin to be refused.
const SKEW: SignedDuration = SignedDuration::from_secs(60);
/// The longest signature file, in bytes.
const MAX_SIGNATURE: u64 = 4096;
/// How much of an error page is read for the server's own words, in bytes.
const MAX_ERROR: u64 = 4096;

/// Tries `base` as a run would, and takes nothing over.
pub(super) async fn attempt(
    client: &Client,
    base: &Url,
    settings: &Settings,
    state: &Path,
) -> ServerCheck {
    // Belongs to no run: none is left out where the management node counts them.
    let run = uuid::Uuid::now_v7().to_string();
    let mut findings = Vec::new();
    let tried = async {
        if let Some(check) = xcat::try_server(client, base, settings).await {
            findings = check.findings;
            return check.serves;
        }
        let source = Server::published(settings, client, base, &run);
        let trust = match keys::trust(settings, state) {
            Ok(trust) => trust,
            Err(failure) => {
                findings.push(Finding::failed("state", &failure));
                return false;
            }
        };
        Attempt { source, settings, state, trust, served_at: None, findings: &mut findings }
            .all()
            .await
    };
    let serves = match tokio::time::timeout(LIMIT, tried).await {
        Ok(serves) => serves,
        Err(_) => {
            let message =
                format!("requesting from {base}: not finished within {} s", LIMIT.as_secs());
            let failure = Failure::new(Cause::Fetch, message, "check why the server is slow");
            findings.push(Finding::failed("server", &failure));
            false
        }
    };
    ServerCheck { findings, serves }
}

struct Attempt<'a> {
    source: Server<'a>,
    settings: &'a Settings,
    state: &'a Path,
    /// With the links to the key that signs, once its manifest is there.
    trust: Trust,
    /// The server's time.
    served_at: Option<Timestamp>,
    findings: &'a mut Vec<Finding>,
}

impl Attempt<'_> {
    async fn all(mut self) -> bool {
        let manifest = self.manifest().await;
        let Ok(manifest) = manifest else { return false };
        if let Some(manifest) = &manifest
            && !self.tls(manifest).await
        {
            return false;
        }
        let plan = self.plan(manifest.as_ref().map(|(manifest, text)| (manifest, &**text))).await;
        manifest.is_some() && plan
    }

    /// The manifest, if it can be trusted; an error if the server can't be reached at all.
    async fn manifest(&mut self) -> Result<Option<(Manifest, String)>, ()> {
        let begun = Instant::now();
        let asked = self.source.ask(published::MANIFEST, HeaderMap::new(), &[StatusCode::OK]).await;
        let response = match asked {
            Ok(response) => response,
            Err(miss) => {
                self.findings.push(Finding::failed("server", &miss.failure));
                return Err(());
            }
        };
        let took = begun.elapsed();
        let now = Timestamp::now();
        let date = response.headers().get(header::DATE).and_then(|d| http_date(d.to_str().ok()?));
        self.served_at = date;
        let bytes = match self.read(published::MANIFEST, response, Manifest::MAX_BYTES).await {
            Ok(bytes) => bytes,
            Err(failure) => {
                self.findings.push(Finding::failed("server", &failure));
                return Err(());
            }
        };
        let took = wording::duration(took);
        self.findings
            .push(Finding::ok("server", format!("{} responded in {took}", self.source.base)));
        self.clock(now, date);
        Ok(self.trusted(&bytes).await)
    }

    fn clock(&mut self, now: Timestamp, date: Option<Timestamp>) {
        let base = self.source.base;
        let Some(date) = date else {
            let hint = "compare `date -u` here and there, or check `chronyc tracking`";
            let detail = format!("{base} sends no time (Date)");
            return self.findings.push(Finding::note("clock", detail, hint));
        };
        let ahead = now.duration_since(date);
        let seconds = ahead.as_secs().unsigned_abs();
        let side = if ahead.is_negative() { "behind" } else { "ahead of" };
        let detail = format!("this node's clock is {seconds} s {side} that of {base}");
        self.findings.push(match ahead.abs() > SKEW {
            false => Finding::ok("clock", detail),
            true => {
                let hint = "let both use a time server; see `chronyc tracking`";
                Finding::note("clock", detail, hint)
            }
        });
    }

    async fn trusted(&mut self, bytes: &[u8]) -> Option<(Manifest, String)> {
        let checked = self.check_manifest(published::MANIFEST, bytes).await;
        let finding = match &checked {
            Ok((manifest, verdict)) => {
                let detail = format!("bundle {} is {verdict}", manifest.generation);
                match self.settings.trust.is_unsigned() {
                    false => Finding::ok("signature", detail),
                    true => {
                        let hint = "set [trust] keys: without them anybody on the network path \
                                    can run anything here as root";
                        Finding::note("signature", detail, hint)
                    }
                }
            }
            Err(failure) => Finding::failed("signature", failure),
        };
        self.findings.push(finding);
        let text = String::from_utf8_lossy(bytes).into_owned();
        checked.ok().map(|(manifest, _)| (manifest, text))
    }

    /// How the plan and the reports go; false where that isn't known.
    async fn tls(&mut self, (manifest, text): &(Manifest, String)) -> bool {
        let (kept, bundle) = (provost_node::fetch::kept_texts(self.state), (manifest, &**text));
        if !kept.iter().any(|(_, kept)| kept == text)
            && let Err(failure) =
                fresh::is_believed(&self.source, self.settings, bundle, self.served_at).await
        {
            self.findings.push(Finding::failed("signature", &failure));
            return false;
        }
        let transport = self.source.client.transport();
        transport.learn(manifest.tls.clone());
        let private = transport.private(self.source.base);
        self.findings.push(match private.scheme() {
            "https" => Finding::ok("tls", format!("plan, token and reports go to {private}")),
            _ => {
                let hint =
                    "publish with TLS: provostctl publish … --tls \"$(provostd ca show --tls)\"";
                let detail = "plan, token and reports go by plain HTTP: anybody on the network can \
                              read them";
                Finding::note("tls", detail.to_owned(), hint)
            }
        });
        true
    }

    async fn check_manifest(
        &mut self,
        path: &str,
        bytes: &[u8],
    ) -> Result<(Manifest, String), Failure> {
        let signature = self.signature(&published::signature(path)).await?;
        let text = String::from_utf8_lossy(bytes);
        self.trust = keys::follow(&self.source, &self.trust, &text).await.map_err(|e| e.failure)?;
        let verdict = self
            .trust
            .check_manifest(bytes, signature.as_deref())
            .map_err(|e| self.refused(&e, e.hint()))?;
        let manifest = Manifest::parse(bytes).map_err(|e| self.refused(&e, e.hint()))?;
        Ok((manifest, verdict.to_string()))
    }

    /// The bundle that a channel's nodes get before the others.
    async fn manifest_of_channel(
        &mut self,
        generation: u64,
    ) -> Result<(Manifest, String), Failure> {
        let path = format!("manifests/{generation}.toml");
        let response = self.source.ask(&path, HeaderMap::new(), &[StatusCode::OK]).await;
        let response = response.map_err(|miss| miss.failure)?;
        let bytes = self.read(&path, response, Manifest::MAX_BYTES).await?;
        let (manifest, _) = self.check_manifest(&path, &bytes).await?;
        Ok((manifest, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether this node gets its own plan, and the plan is as it was signed.
    async fn plan(&mut self, manifest: Option<(&Manifest, &str)>) -> bool {
        let path = published::plan(&self.settings.node);
        let good = [StatusCode::OK, StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
        let response = match self.source.ask(&path, HeaderMap::new(), &good).await {
            Ok(response) => response,
            Err(miss) => {
                self.findings.push(Finding::failed("plan", &miss.failure));
                return false;
            }
        };
        if response.status() != StatusCode::OK {
            if response.headers().contains_key(headers::IDENTITY) {
                let detail = "there is none yet: the next run gets it, and then its plan";
                self.findings.push(Finding::ok("identity", detail));
                return true;
            }
            let failure = self.no_admission(&path, response).await;
            let needs_token = self.settings.token.is_some() || !self.is_over_tls();
            let what = if needs_token { "token" } else { "identity" };
            self.findings.push(Finding::failed(what, &failure));
            return false;
        }
        let base = self.source.base;
        let identity = self.identity();
        self.findings.push(match self.settings.token {
            _ if identity.is_some() => {
                Finding::ok("identity", format!("{base} takes {}", identity.unwrap_or_default()))
            }
            Some(_) => Finding::ok("token", format!("{base} takes it")),
            None => {
                let hint = "publish with TLS, so that this node gets an identity, or set token_file: \
                            provostd takes no reports without one of them";
                Finding::note(
                    "token",
                    format!("there is none; {base} serves the plan without it"),
                    hint,
                )
            }
        });
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let reason = || header(headers::REASON).unwrap_or("it gives no reason").to_owned();
        if header(headers::DIRECTIVE).map(Directive::from) == Some(Directive::Hold) {
            let held = held_there(&reason(), &self.settings.node, Service::Boot);
            self.findings.push(Finding::note("guard", held.message, held.hint));
        }
        let checked = self.check_plan(&path, response, manifest).await;
        let Some(checked) = checked.transpose() else { return false };
        self.findings.push(match &checked {
            Ok(detail) => Finding::ok("plan", detail),
            Err(failure) => Finding::failed("plan", failure),
        });
        checked.is_ok()
    }

    /// What there is to say about the plan. Nothing without a trusted manifest, which would say by
    /// whom the plan has to be signed.
    async fn check_plan(
        &mut self,
        path: &str,
        response: Response,
        manifest: Option<(&Manifest, &str)>,
    ) -> Result<Option<String>, Failure> {
        let bytes = self.read(path, response, Plan::MAX_BYTES).await?;
        let Some((manifest, text)) = manifest else { return Ok(None) };
        let signature = self.signature(&published::signature(path)).await?;
        let trust = self.trust.clone().without(&manifest.revoked);
        let verdict = trust
            .check_plan(path, &bytes, signature.as_deref(), manifest)
            .map_err(|e| self.refused(&e, e.hint()))?;
        let mut plan = Plan::parse(&bytes).map_err(|e| self.refused(&e, e.hint()))?;
        if plan.node != self.settings.node {
            let told = format!("checking {path}: it is the plan of {}", plan.node);
            let hint = "publish again: the file may have been swapped";
            return Err(self.refused(&told, hint.to_owned()));
        }
        let of_channel = match plan.manifest {
            Some(own) if own > manifest.generation => Some(self.manifest_of_channel(own).await?),
            _ => None,
        };
        let (manifest, text) =
            of_channel.as_ref().map_or((manifest, text), |(manifest, text)| (manifest, text));
        fresh::belongs(self.settings, manifest, &plan)?;
        check_generations(self.state, self.source.base.as_str(), manifest, &plan)?;
        let is_remembered = has_seen(self.state, manifest, &plan);
        let check = |refreshed| {
            fresh::check(self.settings, (manifest, &plan), is_remembered, self.served_at, refreshed)
        };
        let soon = |refreshed| match self.settings.trust.is_unsigned() {
            true => None,
            false => fresh::expires_soon((manifest, &plan), refreshed),
        };
        let mut refreshed = None;
        let has_expired = check(None).is_err();
        if has_expired || soon(None).is_some() {
            refreshed = fresh::refreshed(&self.source, manifest, text).await;
        }
        if has_expired {
            check(refreshed)?;
        }
        if let Some(end) = soon(refreshed) {
            let detail =
                format!("what is published is valid until {end}, and nothing extends that");
            let hint = "sign it again: provostctl publish … --refresh; see provostctl expiry";
            self.findings.push(Finding::note("expiry", detail, hint));
        }
        secrets::add(&self.source, &mut plan).await.map_err(|e| e.failure)?;
        Ok(Some(format!("plan {} of {} is {verdict}", plan.generation, plan.node)))
    }

    /// The identity that this node has proved, in words.
    fn identity(&self) -> Option<String> {
        let shown = || ShownIdentity::read(self.state).map(|identity| identity.to_string());
        shown().filter(|_| self.source.client.identity().is_known() && self.is_over_tls())
    }

    fn is_over_tls(&self) -> bool {
        self.source.client.transport().private(self.source.base).scheme() == "https"
    }

    /// Why the server takes neither the identity nor the token.
    async fn no_admission(&self, path: &str, response: Response) -> Failure {
        let (url, node, status) = (self.source.url(path), &self.settings.node, response.status());
        let words = body(response, MAX_ERROR as usize).await.unwrap_or_default();
        let (words, hint) = ErrorBody::parse(&words)
            .map_or_else(Default::default, |body| (format!(": {}", body.error), Some(body.hint)));
        if let Some(identity) = self.identity() {
            let message = format!("{url}: the server doesn't take {identity} ({status}{words})");
            let hint = hint.unwrap_or_else(|| format!("provostctl join {node}"));
            return Failure::new(Cause::Fetch, message, hint);
        }
        let (why, hint) = match (status, &self.settings.token) {
            (_, None) if self.is_over_tls() => (
                "there is no identity yet, for which the next run asks",
                format!("let it join: provostctl join {node}; or: provostctl pending"),
            ),
            // provostd would have given a hint.
            (StatusCode::FORBIDDEN, None) if hint.is_none() => (
                "the web server can't read that file",
                "publish again with --group and the group of the web server's user".to_owned(),
            ),
            (_, None) => (
                "there is no token, and the server requires one",
                format!("`provostctl token {node}` prints one: put it where token_file says"),
            ),
            (StatusCode::FORBIDDEN, Some(_)) => (
                "the token is another node's, or the file can't be read by the web server",
                format!("compare `node` here with the name in `provostctl token {node}`"),
            ),
            (_, Some(_)) => (
                "the server doesn't know the token",
                format!(
                    "create a new one with `provostctl token {node}`: this one may have been replaced"
                ),
            ),
        };
        Failure::new(Cause::Fetch, format!("{url}: {why} ({status}{words})"), hint)
    }

    async fn signature(&self, path: &str) -> Result<Option<String>, Failure> {
        if self.settings.trust.is_unsigned() {
            return Ok(None);
        }
        let asked = self.source.ask(path, HeaderMap::new(), &[StatusCode::OK]).await;
        let response = asked.map_err(|miss| miss.failure)?;
        let bytes = self.read(path, response, MAX_SIGNATURE).await?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    async fn read(&self, path: &str, response: Response, most: u64) -> Result<Vec<u8>, Failure> {
        let url = self.source.url(path);
        let bytes = body(response, most as usize + 1).await;
        let bytes = bytes.map_err(|e| broken(&url, &e).failure)?;
        if bytes.len() as u64 <= most {
            return Ok(bytes);
        }
        let message = format!("fetching {url}: it has more than {most} bytes");
        Err(Failure::new(Cause::Verify, message, "check what that server serves: curl -v URL"))
    }

    fn refused(&self, e: &dyn std::fmt::Display, hint: String) -> Failure {
        Failure::new(Cause::Verify, format!("{e}, as served by {}", self.source.base), hint)
    }
}
