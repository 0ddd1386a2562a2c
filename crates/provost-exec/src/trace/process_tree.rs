//! Who has started whom, and which command runs in which process.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::log_budget::Number;
use super::ptrace::ProcessEnd;
use crate::process::status;

/// How much of a command is kept to name it as the one that failed, in bytes.
const NAMED: usize = 1024;
/// How long before the script's end the command may have failed whose failure ended it.
const JUST_BEFORE: Duration = Duration::from_secs(2);
/// Exit statuses up to this one are what scripts choose themselves: an equal one says nothing.
const COMMON_STATUS: i32 = 2;
/// How many commands of a pipeline are named: each is looked for among all that run, and a script may have thousands.
const MOST_PIPED: usize = 10;

/// The traced threads, by their numbers.
#[derive(Default)]
pub(super) struct ProcessTree {
    threads: HashMap<i32, Thread>,
    /// Whether any of them may be one of several of its process.
    has_threads: bool,
    /// How many starts were noted.
    starts: u64,
}

/// A thread, which is most often all of a process.
#[derive(Default)]
struct Thread {
    /// The thread that started it. 0 where that isn't known.
    parent: i32,
    /// The place of its start among all.
    start: u64,
    /// Whether it may belong to another thread's process.
    is_clone: bool,
    /// Whether its end matters to the script: no other command stands between them.
    is_near: bool,
    command: Option<Command>,
    /// The child that ended last, and the last one that failed.
    last: Option<Child>,
    last_failed: Option<Child>,
}

/// A command that runs.
pub(super) struct Command {
    pub(super) number: Number,
    pub(super) began: Instant,
    /// What names it, where it may be asked for.
    text: Option<Rc<str>>,
}

/// A child that has ended.
#[derive(Clone)]
struct Child {
    text: Option<Rc<str>>,
    ending: ProcessEnd,
    at: Instant,
    /// How much the step had printed by then, in bytes.
    printed: u64,
}

impl ProcessTree {
    /// That of the script, which has just begun.
    pub(super) fn new(script: i32) -> Self {
        let mut family = Self::default();
        let parent = std::process::id().cast_signed();
        family.threads.insert(script, Thread { parent, is_near: true, ..Thread::default() });
        family
    }

    /// All threads that may be traced.
    pub(super) fn threads(&self) -> impl Iterator<Item = i32> {
        self.threads.keys().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Notes a thread that has stopped for the first time; the report of its parent may come later.
    pub(super) fn meet(&mut self, thread: i32) {
        self.threads.entry(thread).or_default();
    }

    /// Notes who started a thread.
    pub(super) fn add(&mut self, thread: i32, parent: i32, is_clone: bool) {
        self.has_threads |= is_clone;
        let parent_thread = self.threads.get(&parent);
        let is_near = parent_thread.is_some_and(|p| p.is_near && p.command.is_none());
        self.starts += 1;
        let added = self.threads.entry(thread).or_default();
        added.start = self.starts;
        (added.parent, added.is_clone, added.is_near) = (parent, is_clone, is_near);
    }

    /// Whether a process may have had several threads.
    pub(super) fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Forgets a thread that goes on by another number, or isn't traced any more.
    pub(super) fn forget(&mut self, thread: i32) {
        self.threads.remove(&thread);
    }

    /// The process that started `process`, as far as that can be known.
    pub(super) fn parent(&mut self, process: i32) -> i32 {
        self.find_parent(process);
        let parent = self.threads.get(&process).map_or(0, |thread| thread.parent);
        if !self.threads.get(&parent).is_some_and(|thread| thread.is_clone) {
            return parent;
        }
        let own = status::process_of(parent).unwrap_or(parent);
        if let Some(thread) = self.threads.get_mut(&process) {
            thread.parent = own;
        }
        own
    }

    /// Asks the kernel for the parent of one that was quicker than the news of its start.
    fn find_parent(&mut self, process: i32) {
        let is_unknown = self.threads.get(&process).is_none_or(|thread| thread.parent == 0);
        if is_unknown
            && status::process_of(process) == Some(process)
            && let Some((_, parent, _)) = status::look(process)
        {
            self.add(process, parent, false);
        }
    }

    /// A process begins a command. Returns whether it is the first one in it.
    pub(super) fn begin(&mut self, process: i32, number: Number, text: &str) -> bool {
        let thread = self.threads.entry(process).or_default();
        let text = thread.is_near.then(|| text[..text.floor_char_boundary(NAMED)].into());
        let command = Command { number, began: Instant::now(), text };
        thread.command.replace(command).is_none()
    }

    /// Whether a process that ends so has begun no command, nor ends so by a child's end.
    pub(super) fn began_none(&mut self, process: i32, ending: ProcessEnd) -> bool {
        self.find_parent(process);
        let by_child = |child: &Child| child.ending == ending;
        let thread = self.threads.get(&process).filter(|thread| !thread.is_clone);
        thread.is_some_and(|t| t.command.is_none() && !t.last.as_ref().is_some_and(by_child))
    }

    /// A thread has ended, when the step had `printed` so much. Returns the command that ended with it.
    pub(super) fn end(&mut self, number: i32, ending: ProcessEnd, printed: u64) -> Option<Command> {
        self.find_parent(number);
        let parent = self.parent_of_near(number);
        let thread = self.threads.remove(&number)?;
        if let Some(parent) = parent.and_then(|parent| self.threads.get_mut(&parent)) {
            // What began no command of its own ended as its last child did, if at all.
            let is_its = |child: &&Child| child.ending == ending && child.printed == printed;
            let of_child = thread.last.as_ref().filter(is_its);
            let own = thread.command.as_ref().and_then(|command| command.text.clone());
            let text = own.or_else(|| of_child.and_then(|child| child.text.clone()));
            let child = Child { text, ending, at: Instant::now(), printed };
            if ending != ProcessEnd::Exit(0) {
                parent.last_failed = Some(child.clone());
            }
            parent.last = Some(child);
        }
        thread.command
    }

    /// The parent of a process whose end may matter to it.
    fn parent_of_near(&mut self, number: i32) -> Option<i32> {
        let thread = self.threads.get(&number).filter(|t| t.is_near && !t.is_clone)?;
        let parent = thread.parent;
        let is_thread = self.threads.get(&parent).is_some_and(|parent| parent.is_clone);
        Some(if is_thread { self.parent(number) } else { parent })
    }

    /// The command whose failure ended the script so: what the script itself had become by an exec,
    /// or the child that ended last, if it failed just before. Or one that failed before others that
    /// did not, such as those of a trap that tidies up, if its status tells it from most failures.
    /// Who printed since that child's end went on after it: then only an uncommon status tells.
    pub(super) fn culprit(&self, script: i32, ending: ProcessEnd, printed: u64) -> Option<String> {
        let thread = self.threads.get(&script)?;
        if let Some(command) = &thread.command {
            return command.text.as_deref().map(str::to_owned);
        }
        let ended_it =
            |child: &&Child| child.ending != ProcessEnd::Exit(0) && child.printed == printed;
        let has_its_status = |child: &&Child| {
            let common = if child.printed == printed { 1 } else { COMMON_STATUS };
            child.ending == ending
                && !matches!(ending, ProcessEnd::Exit(status) if status <= common)
        };
        let last = thread.last.as_ref().filter(ended_it);
        let child = last.or_else(|| thread.last_failed.as_ref().filter(has_its_status))?;
        let text = child.text.as_deref().filter(|_| child.at.elapsed() < JUST_BEFORE);
        text.map(str::to_owned)
    }

    /// What the script waits for: what it has become by an exec, or the command that was started last,
    /// with those whose output it reads, as they stand in a pipeline. Nothing if the script itself, or
    /// a subshell of it that was started later, is busy.
    pub(super) fn awaited(&self, script: i32) -> Option<String> {
        let own = self.threads.get(&script).and_then(|thread| thread.command.as_ref());
        if let Some(command) = own {
            return command.text.as_deref().map(str::to_owned);
        }
        let waits = |pid: &i32| self.threads.values().any(|thread| thread.parent == *pid);
        let near = self.threads.iter().filter(|(_, thread)| thread.is_near && !thread.is_clone);
        let last = near.filter(|(pid, t)| t.command.is_some() || !waits(pid));
        let (pid, last) = last.max_by_key(|(_, thread)| thread.start)?;
        let is_busy = status::is_running(script);
        let command = last.command.as_ref().filter(|_| !is_busy)?;
        let (mut pid, mut text) = (*pid, command.text.as_deref()?.to_owned());
        for _ in 1..MOST_PIPED {
            let Some(pipe) = status::pipe(pid, 0) else { break };
            let writes =
                |other: i32| other != pid && status::pipe(other, 1).as_ref() == Some(&pipe);
            let before = self.near_commands().find(|(other, _)| writes(*other));
            let Some((other, command)) = before else { break };
            text = format!("{} | {text}", command.text.as_deref().unwrap_or_default());
            pid = other;
        }
        Some(text)
    }

    /// The commands that run and that the script or a subshell of it has started.
    fn near_commands(&self) -> impl Iterator<Item = (i32, &Command)> {
        let near = self.threads.iter().filter(|(_, thread)| thread.is_near && !thread.is_clone);
        near.filter_map(|(pid, thread)| Some((*pid, thread.command.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::log_budget::LogBudget;

    const SCRIPT: i32 = 10;

    /// What is said to have ended the script, after these: `+PID PARENT`, `!PID COMMAND`,
    /// `-PID STATUS`, `"SCRIPT TEXT`.
    fn culprit(events: &[&str], status: i32) -> String {
        let (mut family, mut kept) = (ProcessTree::new(SCRIPT), LogBudget::default());
        let mut printed = 0;
        for event in events {
            let (pid, rest) = event[1..].split_once(' ').unwrap();
            let pid = pid.parse().unwrap();
            match &event[..1] {
                "+" => family.add(pid, rest.parse().unwrap(), false),
                "!" => drop(family.begin(pid, kept.count().0, rest)),
                "\"" => printed += rest.len() as u64,
                _ => drop(family.end(pid, ProcessEnd::Exit(rest.parse().unwrap()), printed)),
            }
        }
        family.culprit(SCRIPT, ProcessEnd::Exit(status), printed).unwrap_or_default()
    }

    #[test]
    fn the_command_that_failed_last_is_named() {
        let curl = ["+11 10", "!11 curl", "-11 22"];
        let rm = ["+12 10", "!12 rm", "-12 0"];
        assert_eq!(culprit(&curl, 7), "curl");
        assert_eq!(culprit(&[curl, rm].concat(), 22), "curl", "a trap tidied up");
        assert_eq!(culprit(&[curl, rm].concat(), 1), "", "it was ignored");
        assert_eq!(culprit(&rm, 1), "");
        assert_eq!(culprit(&["!10 make all"], 2), "make all", "the script has become it");
    }

    #[test]
    fn a_script_that_printed_since_went_on() {
        let curl = ["+11 10", "!11 curl", "-11 22"];
        let ip = ["+11 10", "!11 ip link", "-11 1"];
        let (rm, said) = (["+12 10", "!12 rm", "-12 0"], ["\"10 no conf"]);
        for ended in [&ip[..], &curl[..]] {
            assert_eq!(culprit(&[ended, &said].concat(), 1), "");
        }
        assert_eq!(culprit(&[&said, &ip[..]].concat(), 1), "ip link", "before it failed");
        assert_eq!(culprit(&[&curl[..], &said, &rm].concat(), 22), "curl", "a trap said so");
        let usage = ["+11 10", "!11 grep", "-11 2"];
        assert_eq!(culprit(&[&usage[..], &rm].concat(), 2), "grep");
        assert_eq!(culprit(&[&usage[..], &said].concat(), 2), "", "the script's own status");
    }

    #[test]
    fn a_subshell_ends_as_its_last_command() {
        let within = ["+11 10", "+12 11", "!12 make", "-12 2"];
        assert_eq!(culprit(&[&within[..], &["-11 2"]].concat(), 2), "make");
        assert_eq!(culprit(&[&within[..], &["-11 1"]].concat(), 1), "", "it ended otherwise");
    }

    #[test]
    fn what_a_command_starts_is_its_own_business() {
        let within = ["+11 10", "!11 make all", "+12 11", "!12 cc a.c", "-12 1", "-11 2"];
        assert_eq!(culprit(&within, 2), "make all");
    }
}
