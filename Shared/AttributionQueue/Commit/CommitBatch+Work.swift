extension CommitBatch {
  /// The data about a message that is needed after `commit` has settled it.
  struct Work: Sendable {
    let entryID: String
    /// Nil for an entry that could not be read as a message.
    let message: LeasedMessage?
    /// True if each start of the message is counted, because a former owner of the shard may have crashed on it.
    var isSuspected = false
    /// True if the message is verified and keeps its order.
    var isOrdered = false
    let started: ContinuousClock.Instant
    /// The value of the `outcome` label in metrics.
    let word: String
    /// ``Completion/whenSeen``.
    var whenSeen: (@Sendable () async -> WorkOutcome)?
    /// The reason that its dead letter records.
    var death: String?
    /// True if the outcome finishes the message. This flag, the reason of a rejection and the reported values are for ``DeliveryCounter``.
    var isEnd = false
    var reason: String?
    var countedValues: [CountedValue] = []
    /// The work that runs until a deferred message is due again.
    var meanwhile: (@Sendable () async -> Void)?
  }

  /// Ends the spans of messages that were not settled.
  func endSpans(_ error: QueueError) {
    for work in works { work.message?.span?.end(error: error.word) }
  }

  /// Appends a line and keeps only the newest lines: a message may be delayed and retried for days.
  static func history(_ before: String, _ now: Int64, _ error: String) -> String {
    let whole = before + "\(now) \(error)\n"
    guard whole.utf8.count > maxHistoryBytes else { return whole }
    let newest = whole.utf8.suffix(maxHistoryBytes)
    return String(decoding: newest.drop { $0 != UInt8(ascii: "\n") }.dropFirst(), as: UTF8.self)
  }

  /// The maximum size of a history, bytes.
  private static let maxHistoryBytes = 4096
}
