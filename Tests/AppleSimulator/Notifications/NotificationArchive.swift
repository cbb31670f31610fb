import Synchronization

/// All created notifications, for *Get Notification History* and the control API.
public final class NotificationArchive: Sendable {
  private struct State {
    var records: [NotificationRecord] = []
    /// The signing date of each record, in the same order. A search by date reads these instead of the much larger records.
    var dates: [Int64] = []
    /// The index of each record by its UUID.
    var indexes: [String: Int] = [:]
  }
  private let state = Mutex(State())

  func add(_ record: NotificationRecord) {
    state.withLock {
      $0.indexes[record.uuid] = $0.records.count
      $0.records.append(record)
      $0.dates.append(record.signedDate)
    }
  }

  func record(_ uuid: String) -> NotificationRecord? {
    state.withLock { state in state.indexes[uuid].map { state.records[$0] } }
  }

  func addAttempt(_ uuid: String, _ attempt: NotificationRecord.Attempt) {
    state.withLock { state in if let index = state.indexes[uuid] { state.records[index].attempts.append(attempt) } }
  }

  /// The UUIDs of matching notifications, in the order of their creation.
  func uuids(where matches: (NotificationRecord) -> Bool) -> [String] {
    state.withLock { $0.records.lazy.filter(matches).map(\.uuid) }
  }

  /// The UUIDs of matching notifications that were signed from `start` on and before `end`.
  func uuids(from start: Int64, before end: Int64, where matches: (NotificationRecord) -> Bool) -> [String] {
    state.withLock { state in
      var found: [String] = []
      for index in state.dates.indices where state.dates[index] >= start && state.dates[index] < end {
        if matches(state.records[index]) { found.append(state.records[index].uuid) }
      }
      return found
    }
  }

  func records(_ uuids: some Sequence<String>) -> [NotificationRecord] {
    state.withLock { state in uuids.compactMap { state.indexes[$0].map { state.records[$0] } } }
  }

  var count: Int { state.withLock(\.records.count) }

  func reset() { state.withLock { $0 = State() } }
}
