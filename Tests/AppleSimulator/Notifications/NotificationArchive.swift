import Synchronization

/// All created notifications, for *Get Notification History* and the control API.
public final class NotificationArchive: Sendable {
  private struct State {
    var records: [NotificationRecord] = []
    /// The signing date of each record, which is compared before the record is read.
    var dates: [Int64] = []
    var places: [String: Int] = [:]
  }
  private let state = Mutex(State())

  func add(_ record: NotificationRecord) {
    state.withLock {
      $0.places[record.uuid] = $0.records.count
      $0.records.append(record)
      $0.dates.append(record.signedDate)
    }
  }

  func record(_ uuid: String) -> NotificationRecord? {
    state.withLock { state in state.places[uuid].map { state.records[$0] } }
  }

  func addAttempt(_ uuid: String, _ attempt: NotificationRecord.Attempt) {
    state.withLock { state in if let place = state.places[uuid] { state.records[place].attempts.append(attempt) } }
  }

  /// UUIDs of matching notifications, oldest first.
  func uuids(where matches: (NotificationRecord) -> Bool) -> [String] {
    state.withLock { $0.records.lazy.filter(matches).map(\.uuid) }
  }

  /// UUIDs of matching notifications that were signed from `start` on and before `end`.
  func uuids(from start: Int64, before end: Int64, where matches: (NotificationRecord) -> Bool) -> [String] {
    state.withLock { state in
      var found: [String] = []
      for place in state.dates.indices where state.dates[place] >= start && state.dates[place] < end {
        if matches(state.records[place]) { found.append(state.records[place].uuid) }
      }
      return found
    }
  }

  func records(_ uuids: some Sequence<String>) -> [NotificationRecord] {
    state.withLock { state in uuids.compactMap { state.places[$0].map { state.records[$0] } } }
  }

  var count: Int { state.withLock(\.records.count) }

  func reset() { state.withLock { $0 = State() } }
}
