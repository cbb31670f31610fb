import AppStore
import AttributionProtocol

extension Recovery {
  init(_ job: RecoveryJob) {
    self.init()
    recoveryId = job.id
    state = job.state.rawValue
    progress = job.progress
    pages = job.pages
    fetched = job.fetched
    accepted = job.accepted
    duplicates = job.duplicates
    failed = job.failed
    sendAttemptResults = SendAttemptDiagnosis.diagnose(job.attemptResults).map { entry in
      let times = job.attemptTimes[entry.result]
      return SendAttemptCount(
        result: entry.result, count: entry.count, diagnosis: entry.advice,
        firstAttemptAt: times.map { Timestamp(millisecondsSince1970: $0.lowerBound) },
        lastAttemptAt: times.map { Timestamp(millisecondsSince1970: $0.upperBound) })
    }
    undelivered = job.undelivered
    bundleId = job.bundleId
    environment = job.server.rawValue
    startDate = Timestamp(millisecondsSince1970: job.window.start)
    endDate = Timestamp(millisecondsSince1970: job.window.end)
    startedAt = Timestamp(millisecondsSince1970: job.startedAt)
    completedAt = job.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    lastError = job.lastError
    uncovered = [job.uncovered].compactMap { $0 }.map {
      UncoveredRange(startDate: Timestamp(millisecondsSince1970: $0.start), endDate: Timestamp(millisecondsSince1970: $0.end))
    }
    notificationType = job.notificationType
    notificationSubtype = job.notificationSubtype
    transactionId = job.transactionId
    onlyFailures = job.onlyFailures ? true : nil
    origin = job.origin.rawValue
  }
}

extension GetRecoveryResponse {
  init(_ recovery: Recovery) {
    self.init()
    recoveryId = recovery.recoveryId
    state = recovery.state
    progress = recovery.progress
    pages = recovery.pages
    fetched = recovery.fetched
    accepted = recovery.accepted
    duplicates = recovery.duplicates
    failed = recovery.failed
    sendAttemptResults = recovery.sendAttemptResults
    undelivered = recovery.undelivered
    bundleId = recovery.bundleId
    environment = recovery.environment
    startDate = recovery.startDate
    endDate = recovery.endDate
    startedAt = recovery.startedAt
    completedAt = recovery.completedAt
    lastError = recovery.lastError
    uncovered = recovery.uncovered
    notificationType = recovery.notificationType
    notificationSubtype = recovery.notificationSubtype
    transactionId = recovery.transactionId
    onlyFailures = recovery.onlyFailures
    origin = recovery.origin
  }
}
