//! What the daemon knows of each publication, beside what nodes get: who published it, which scripts it has, and the
//! plans that it replaced. By them it tells what has changed on a node. Those who may read plans may read it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use provost_api::admins::Publication;
use zstd::stream::{Decoder, Encoder};

use crate::changes::PlanChange;
use crate::error::PublishError;
use crate::generations::PlanHead;
use crate::history::Record;
use crate::previous::plan_path;
use crate::publication::PUBLICATIONS;
use crate::stage::Stage;

/// How hard to compress plans: they are many, and much alike.
const LEVEL: i32 = 3;
/// The longest plan that is read, in bytes.
const MOST_PLAN: u64 = 16 << 20;

/// The files of a publication, and of the plans that it replaced.
pub(crate) fn files(number: u64) -> [String; 2] {
    [format!("{PUBLICATIONS}/{number}.toml"), format!("{PUBLICATIONS}/{number}.plans.zst")]
}

/// Writes them.
pub(crate) fn write(
    stage: &Stage,
    record: &Record,
    replaced: &[PlanChange],
) -> Result<(), PublishError> {
    let [facts, plans] = files(record.number);
    let failed = |file: &str, e: io::Error| PublishError::disk("writing", Path::new(file), e);
    let publication = Publication {
        number: record.number,
        generation: record.generation,
        at: record.at,
        by: record.by.clone(),
        host: record.host.clone(),
        action: record.action.as_str().to_owned(),
        channel: record.channel.clone(),
        scripts: record
            .files
            .iter()
            .map(|file| (file.path.clone(), file.sha256.to_string()))
            .collect(),
    };
    let text = toml::to_string(&publication).map_err(|e| failed(&facts, io::Error::other(e)))?;
    stage.write_private(&facts, text.as_bytes())?;
    let before: Vec<(&str, &(u64, String))> = replaced
        .iter()
        .filter_map(|plan| Some((plan.node.as_str(), plan.before.as_ref()?)))
        .collect();
    if before.is_empty() {
        return Ok(());
    }
    let pack = || -> io::Result<Vec<u8>> {
        let mut packed = Encoder::new(Vec::new(), LEVEL)?;
        for (node, (generation, body)) in before {
            writeln!(packed, "{node} {generation} {}", body.len())?;
            packed.write_all(body.as_bytes())?;
        }
        packed.finish()
    };
    stage.write_private(&plans, &pack().map_err(|e| failed(&plans, e))?)
}

/// What was published to the folder `www`, the oldest first. What can't be read is left out.
pub fn publications(www: &Path) -> Vec<Publication> {
    let read = |number: u64| -> Option<Publication> {
        let [facts, _] = files(number);
        toml::from_str(&fs::read_to_string(www.join(facts)).ok()?).ok()
    };
    numbers(www).into_iter().filter_map(read).collect()
}

/// The plan of this generation that the node has, or had, without its head; none if it isn't kept.
pub fn plan_body(www: &Path, node: &str, generation: u64) -> Option<String> {
    let present = fs::read_to_string(www.join(plan_path(node))).ok();
    if let Some((head, body)) = present.as_deref().and_then(PlanHead::split)
        && head.generation == generation
    {
        return Some(body.to_owned());
    }
    let in_file = |number: &u64| {
        let [_, plans] = files(*number);
        replaced(&www.join(plans), node, generation).ok().flatten()
    };
    numbers(www).iter().rev().find_map(in_file)
}

/// The bytes of a script that is published, or was, if they are kept.
pub fn script_bytes(www: &Path, sha256: &str) -> Option<Vec<u8>> {
    let digest: provost_bundle::Digest = sha256.parse().ok()?;
    let name = digest.to_string();
    let bytes = fs::read(www.join("objects").join(&name[..2]).join(&name)).ok()?;
    (provost_bundle::Digest::of(&bytes) == digest).then_some(bytes)
}

fn replaced(file: &Path, node: &str, generation: u64) -> io::Result<Option<String>> {
    let mut plans = BufReader::new(Decoder::new(File::open(file)?)?);
    let mut head = String::new();
    while plans.read_line(&mut head)? > 0 {
        let mut words = head.split_whitespace();
        let is_it = words.next() == Some(node);
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (Some(own), Some(size)) = (number(), number()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut body = (&mut plans).take(size);
        if is_it && own == generation && size <= MOST_PLAN {
            let mut text = String::new();
            body.read_to_string(&mut text)?;
            return Ok(Some(text));
        }
        io::copy(&mut body, &mut io::sink())?;
        head.clear();
    }
    Ok(None)
}

/// The numbers of the publications, in their order.
fn numbers(www: &Path) -> Vec<u64> {
    let entries = fs::read_dir(www.join(PUBLICATIONS)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbers: Vec<u64> =
        names.filter_map(|name| name.strip_suffix(".toml")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Which script has which content in which generation.
pub fn scripts_of(
    publications: &[Publication],
    generation: u64,
) -> Option<&BTreeMap<String, String>> {
    let is_it = |one: &&Publication| one.generation == generation;
    publications.iter().rev().find(is_it).map(|one| &one.scripts)
}
