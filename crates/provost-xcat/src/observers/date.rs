//! A time as date(1) prints it.

/// The time in UTC, without the time library's formatter, which is as large as all the rest that writes
/// the log.
pub(super) fn date(time: jiff::Timestamp) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let time = jiff::tz::Offset::UTC.to_datetime(time);
    let day = DAYS[usize::from(time.weekday().to_monday_zero_offset().unsigned_abs())];
    let month = MONTHS[usize::from(time.month().unsigned_abs()) - 1];
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    format!("{day} {month} {:2} {hour:02}:{minute:02}:{second:02} UTC {}", time.day(), time.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_date() {
        for time in ["2026-01-05T02:03:04Z", "2026-11-21T23:59:59Z", "2028-02-29T12:00:00Z"] {
            let time: jiff::Timestamp = time.parse().unwrap();
            assert_eq!(date(time), time.strftime("%a %b %e %H:%M:%S UTC %Y").to_string());
        }
    }
}
