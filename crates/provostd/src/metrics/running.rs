use prometheus_client::metrics::gauge::Gauge;

/// Something that a gauge counts until it is dropped.
pub(crate) struct Running(Gauge);

impl Running {
    pub(super) fn begin(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}
