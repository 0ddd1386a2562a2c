use crate::{Outcome, Phase, Record};

/// The verdict of OpenShift's installer on a service, from its records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// How often the service has begun.
    pub starts: usize,
    /// Whether its last entry is an end that is a success.
    pub successful: bool,
    /// The message of the last failure.
    pub last_error: Option<String>,
    /// The stage of the last failure.
    pub failing_stage: Option<String>,
}

/// Judges a service by its records as OpenShift's own reader does: by the last entry, and with
/// the stage of a failed `stage end` kept when the `service end` that follows it repeats the
/// failure.
pub fn judge(records: &[Record]) -> Judgement {
    let mut judgement = Judgement::default();
    let mut stage_failed_before = false;
    for record in records {
        if record.phase == Phase::ServiceStart {
            judgement.starts += 1;
        }
        let ends = matches!(record.phase, Phase::ServiceEnd | Phase::PostCommandEnd);
        judgement.successful = ends && record.result == Some(Outcome::Success);
        if record.is_failure() {
            judgement.last_error.clone_from(&record.error_message);
            if !stage_failed_before {
                judgement.failing_stage.clone_from(&record.stage);
            }
        }
        stage_failed_before = record.is_failure() && record.phase == Phase::StageEnd;
    }
    judgement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(phase: Phase, stage: &str, result: Option<Outcome>, error: &str) -> Record {
        Record {
            stage: (!stage.is_empty()).then(|| stage.to_owned()),
            result,
            error_message: (!error.is_empty()).then(|| error.to_owned()),
            ..Record::new(phase)
        }
    }

    #[test]
    fn a_service_is_judged_by_its_last_entry() {
        let (good, bad) = (Some(Outcome::Success), Some(Outcome::Failure));
        let mut records = vec![
            record(Phase::ServiceStart, "", None, ""),
            record(Phase::StageStart, "a", None, ""),
            record(Phase::StageEnd, "a", bad, "no space"),
            record(Phase::ServiceEnd, "", bad, "no space"),
        ];
        let failed = judge(&records);
        assert_eq!((failed.starts, failed.successful), (1, false));
        assert_eq!(failed.last_error.as_deref(), Some("no space"));
        assert_eq!(failed.failing_stage.as_deref(), Some("a"));

        records.push(record(Phase::ServiceStart, "", None, ""));
        assert!(!judge(&records).successful, "a service that runs has not succeeded yet");
        records.push(record(Phase::ServiceEnd, "", good, ""));
        let fixed = judge(&records);
        assert_eq!((fixed.starts, fixed.successful), (2, true));
    }

    #[test]
    fn a_failure_outside_any_stage_has_no_failing_stage() {
        let records = vec![
            record(Phase::ServiceStart, "", None, ""),
            record(Phase::ServiceEnd, "", Some(Outcome::Failure), "killed"),
        ];
        assert_eq!(judge(&records).failing_stage, None);
    }

    #[test]
    fn nothing_is_no_success() {
        assert_eq!(judge(&[]), Judgement::default());
    }
}
