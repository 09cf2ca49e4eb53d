//! Log lines go to the runtime's console, one JSON object a line.

use log::{Level, LevelFilter, Log, Metadata, Record};

struct Console;

impl Log for Console {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Info
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        match record.level() {
            Level::Error => worker::console_error!("{}", record.args()),
            Level::Warn => worker::console_warn!("{}", record.args()),
            _ => worker::console_log!("{}", record.args()),
        }
    }

    fn flush(&self) {}
}

/// Starts logging; once it has started, nothing.
pub fn start() {
    if log::set_logger(&Console).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}
