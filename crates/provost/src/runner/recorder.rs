use provost_record::{Journal, JournalError, Phase, Record, Service};
use tokio::sync::watch;

use crate::settings::Paths;

/// The most bytes of a journal whose entries are all reported; a longer one is put aside.
const ROTATE_AT: u64 = 4 << 20;

/// Writes the records of one run, numbered without a gap, each on the disk before what it
/// announces goes on.
pub(super) struct Recorder {
    journal: Journal,
    service: Service,
    node: String,
    run: String,
    seq: u64,
    /// Tells the reporter that there is something new.
    news: watch::Sender<u64>,
}

impl Recorder {
    /// Opens the service's journal and closes in it what a crash cut off. Returns what is to be
    /// said about that.
    pub(super) fn open(
        paths: &Paths,
        service: Service,
        node: &str,
        run: &str,
        may_rotate: bool,
    ) -> Result<(Self, Vec<String>), JournalError> {
        let mut journal = Journal::open(paths.journal(service))?;
        let mut said = Vec::new();
        if let Some(mended) = journal.take_mended() {
            said.push(format!("the journal of {service} was damaged: {mended}"));
        }
        if let Some(end) = journal.close_interrupted()?.last() {
            said.push(format!("run {} was cut off; it is recorded as interrupted", end.run));
        }
        if may_rotate {
            journal.rotate(ROTATE_AT)?;
        }
        let news = watch::Sender::new(0);
        let (node, run) = (node.to_owned(), run.to_owned());
        Ok((Self { journal, service, node, run, seq: 0, news }, said))
    }

    /// Which number the last record has; changes with each.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// A record of `phase` of this run, to be filled in.
    pub(super) fn record(&self, phase: Phase) -> Record {
        Record {
            service: self.service.to_string(),
            node: self.node.clone(),
            run: self.run.clone(),
            ..Record::new(phase)
        }
    }

    /// Numbers `record` and puts it on the disk.
    pub(super) fn put(&mut self, mut record: Record) -> Result<(), JournalError> {
        self.seq += 1;
        record.seq = self.seq;
        self.journal.append(&record)?;
        self.journal.sync()?;
        self.news.send_replace(self.seq);
        Ok(())
    }
}
