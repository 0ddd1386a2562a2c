/// What couldn't be carried over, each once.
#[derive(Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    pub(super) fn add(&mut self, note: String) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &String> {
        self.0.iter()
    }
}
