extension CommitBatch {
  /// A stream entry of the batch: what is needed about it after `commit` has settled it. ``CommitItem`` is what `commit` itself needs.
  struct Entry: Sendable {
    let entryID: String
    /// Nil if the entry cannot be read as a message.
    let message: LeasedMessage?
    /// True if each start of the message is counted, because a former owner of the shard may have crashed on it.
    var isSuspected = false
    /// True if the message is verified and keeps its order.
    var isOrdered = false
    let started: ContinuousClock.Instant
    /// The value of the `outcome` label in metrics.
    let outcomeLabel: String
    /// See ``Completion/whenClaimedBefore``.
    var whenClaimedBefore: (@Sendable () async -> WorkOutcome)?
    /// The error in the dead letter that the message becomes; nil if it becomes none.
    var deadLetterError: String?
    /// True if the outcome finishes the message, so that ``DeliveryCounter`` counts it.
    var isFinished = false
    /// The reason of a rejection, for ``DeliveryCounter``.
    var rejectionReason: String?
    /// The values that the message reports, for ``DeliveryCounter``.
    var countedValues: [CountedValue] = []
    /// The work of a deferred message (``WorkOutcome/deferred(atMost:while:)``), which runs while the message is delayed.
    var deferredWork: (@Sendable () async -> Void)?
  }

  /// Ends the spans of messages that were not settled.
  func endSpans(_ error: QueueError) {
    for entry in entries { entry.message?.span?.end(error: error.label) }
  }

  /// Appends a line to a message's history and drops the oldest lines beyond the maximum size: a message may be retried for days.
  static func history(_ before: String, _ now: Int64, _ error: String) -> String {
    let whole = before + "\(now) \(error)\n"
    guard whole.utf8.count > maxHistoryBytes else { return whole }
    let newest = whole.utf8.suffix(maxHistoryBytes)
    return String(decoding: newest.drop { $0 != UInt8(ascii: "\n") }.dropFirst(), as: UTF8.self)
  }

  /// The maximum size of a history, bytes.
  private static let maxHistoryBytes = 4096
}
