//! Fetching what is published for this node, and verifying it.

mod bundles;
mod retry;
mod source;

use std::path::PathBuf;

use provost_bundle::{Manifest, Mismatch, Verdict, Verifying};
use provost_plan::Plan;
use provost_record::Cause;
use reqwest::{Client, Url};

use crate::console::Console;
use crate::failure::Failure;
use crate::settings::{Paths, Settings};
use bundles::Bundles;
use retry::Miss;
use source::Source;

/// Up to so many files are fetched each by itself; more of them come as one pack, since every
/// file would cost a round trip.
const FEW: usize = 8;
/// How many files are under way at once.
const AT_ONCE: usize = 4;
/// The longest signature file, in bytes.
const MAX_SIGNATURE: u64 = 4096;

/// What was fetched, verified, and is in its place.
pub(crate) struct Fetched {
    pub(crate) manifest: Manifest,
    pub(crate) plan: Plan,
    /// Where the scripts are.
    pub(crate) folder: PathBuf,
}

/// Fetches from the first server that serves all of it well.
pub(crate) async fn fetch(
    settings: &Settings,
    client: &Client,
    paths: &Paths,
    console: &mut Console,
) -> Result<Fetched, Failure> {
    let bundles = Bundles::open(&paths.state)?;
    let servers: Vec<&Url> = settings.servers.iter().collect();
    let say = |text: &str| console.say(&format!("fetch: {text}"));
    let (fetched, verdict) = retry::through(&servers, settings.fetch.deadline, say, |server| {
        let source = Source { client, base: server, token: settings.token.as_ref() };
        from(source, settings, &bundles)
    })
    .await?;
    if verdict == Verdict::Unsigned {
        console.say(
            "WARNING: [trust] says `unsigned = true`: anybody on the way could have changed what \
             runs here as root",
        );
    }
    Ok(fetched)
}

async fn from(
    source: Source<'_>,
    settings: &Settings,
    bundles: &Bundles,
) -> Result<(Fetched, Verdict), Miss> {
    let plan_path = format!("plans/{}.toml", settings.node);
    let signature_path = format!("{plan_path}.minisig");
    let (manifest, manifest_signature, plan, plan_signature) = tokio::try_join!(
        source.small("manifest.toml", Manifest::MAX_BYTES),
        source.signature("manifest.toml.minisig", settings),
        source.small(&plan_path, Plan::MAX_BYTES),
        source.signature(&signature_path, settings),
    )?;
    let refused = |e: &dyn std::fmt::Display, hint: String| {
        Miss::last(Failure::new(Cause::Verify, format!("{e}, as served by {}", source.base), hint))
    };
    let trust = &settings.trust;
    let verdict = trust
        .check_manifest(&manifest, manifest_signature.as_deref())
        .map_err(|e| refused(&e, e.hint()))?;
    let manifest = Manifest::parse(&manifest).map_err(|e| refused(&e, e.hint()))?;
    trust
        .check_plan(&plan_path, &plan, plan_signature.as_deref(), &manifest)
        .map_err(|e| refused(&e, e.hint()))?;
    let plan = Plan::parse(&plan).map_err(|e| refused(&e, e.hint()))?;
    if plan.node != settings.node {
        let told = format!("checking {plan_path}: it is the plan of {}", plan.node);
        return Err(refused(&told, "publish again; somebody may have swapped files".to_owned()));
    }
    bundles.check_generations(&manifest, &plan).map_err(Miss::last)?;
    let folder = files(&source, &manifest, bundles).await?;
    bundles.remember_generations(&manifest, &plan).map_err(Miss::last)?;
    Ok((Fetched { manifest, plan, folder }, verdict))
}

/// Gets the manifest's files to their place: what is there already stays, few come one by one,
/// many as the pack.
async fn files(
    source: &Source<'_>,
    manifest: &Manifest,
    bundles: &Bundles,
) -> Result<PathBuf, Miss> {
    let missing = bundles.missing(manifest);
    if missing.is_empty() && bundles.holds_no_other(manifest) {
        return Ok(bundles.current());
    }
    let new = bundles.begin().map_err(Miss::last)?;
    if missing.len() > FEW {
        pack(source, manifest, bundles, new.path()).await?;
    } else {
        bundles.take_over(manifest, &missing, new.path()).map_err(Miss::last)?;
        let entries = manifest.files.iter().filter(|e| missing.contains(&e.path.as_str()));
        use futures_util::{StreamExt, TryStreamExt};
        futures_util::stream::iter(entries)
            .map(|entry| source.object(entry, new.path()))
            .buffer_unordered(AT_ONCE)
            .try_collect::<()>()
            .await?;
    }
    bundles.switch_to(new).map_err(Miss::last)
}

async fn pack(
    source: &Source<'_>,
    manifest: &Manifest,
    bundles: &Bundles,
    into: &std::path::Path,
) -> Result<(), Miss> {
    let url = source.url(&manifest.pack.path());
    let wrong =
        |e: &Mismatch| Miss::last(Failure::new(Cause::Verify, format!("{e}, at {url}"), e.hint()));
    let file = bundles.scratch().map_err(Miss::last)?;
    let mut file =
        Verifying::new(file, manifest.pack.path(), manifest.pack.size, manifest.pack.sha256);
    source
        .stream(&manifest.pack.path(), false, |bytes| {
            std::io::Write::write_all(&mut file, bytes).map_err(|e| {
                match e.downcast::<Mismatch>() {
                    Ok(e) => wrong(&e),
                    Err(e) => Miss::last(bundles.disk("writing the pack", &e)),
                }
            })
        })
        .await?;
    let mut file = file.finish().map_err(|e| wrong(&e))?;
    // Unpacking is work for the processor and the disk; signals are heeded meanwhile.
    let (manifest, into) = (manifest.clone(), into.to_owned());
    let unpacked = tokio::task::spawn_blocking(move || {
        std::io::Seek::rewind(&mut file)?;
        Ok::<_, std::io::Error>(provost_bundle::unpack(file, &manifest, &into))
    });
    match unpacked.await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(e))) => {
            let message = format!("{e}, at {url}");
            Err(Miss::last(Failure::new(Cause::Verify, message, e.hint())))
        }
        Ok(Err(e)) => Err(Miss::last(bundles.disk("reading the pack back", &e))),
        Err(e) => Err(Miss::last(bundles.disk("unpacking the pack", &std::io::Error::other(e)))),
    }
}
