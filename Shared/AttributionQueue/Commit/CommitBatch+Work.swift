extension CommitBatch {
  /// What is left to be known of a message when it is settled.
  struct Work: Sendable {
    let entryID: String
    /// Nil for an entry that is no message.
    let message: LeasedMessage?
    /// Whether it was counted when it was begun, since its owner before may have died of it.
    var isSuspected = false
    /// Whether it is proved and keeps its order.
    var isOrdered = false
    let started: ContinuousClock.Instant
    /// The outcome's word in metrics.
    let word: String
    /// ``Completion/whenSeen``.
    var whenSeen: (@Sendable () async -> WorkOutcome)?
    /// What its dead letter says.
    var death: String?
    /// Whether the message has ended with this, why it was rejected, and what it says: for ``DeliveryCounter``.
    var isEnd = false
    var reason: String?
    var countedValues: [CountedValue] = []
    /// What is to be done until it comes again, of one that is deferred.
    var meanwhile: (@Sendable () async -> Void)?
  }

  /// The newest of it: a message may be put off for days.
  static func history(_ before: String, _ now: Int64, _ error: String) -> String {
    let whole = before + "\(now) \(error)\n"
    guard whole.utf8.count > longestHistory else { return whole }
    let newest = whole.utf8.suffix(longestHistory)
    return String(decoding: newest.drop { $0 != UInt8(ascii: "\n") }.dropFirst(), as: UTF8.self)
  }

  private static let longestHistory = 4096
}
