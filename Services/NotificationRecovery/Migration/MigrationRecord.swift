/// The progress of a migration. Counts are of receipts unless they say otherwise; times are milliseconds since 1970.
struct MigrationRecord: Sendable, Hashable {
  let id: String
  let bundleId: String
  let startedAt: Int64
  let updatedAt: Int64
  let receipts: Int64
  let duplicates: Int64
  let noPurchase: Int64
  /// Receipts that failed before Apple was asked.
  let unreadable: Int64
  let queued: Int64
  let migrated: Int64
  /// Receipts that Apple refused.
  let refused: Int64
  let transactions: Int64
  let subscriptions: Int64
  let failuresNotKept: Int64
  /// Nil unless it was cancelled.
  let cancelledAt: Int64?

  enum State: String, Sendable, Hashable { case running, completed, cancelled }

  var state: State { cancelledAt != nil ? .cancelled : unanswered > 0 ? .running : .completed }
  /// Receipts that wait for Apple's answer.
  var waiting: Int64 { cancelledAt == nil ? unanswered : 0 }
  /// Receipts about which Apple will not be asked.
  var cancelled: Int64 { cancelledAt == nil ? 0 : unanswered }
  var progress: Double { receipts == 0 ? 1 : Double(receipts - unanswered) / Double(receipts) }

  private var unanswered: Int64 { max(0, queued - migrated - refused) }
}
