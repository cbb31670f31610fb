/// The progress of a migration. The counts are numbers of receipts unless their names say otherwise. Times are milliseconds since 1970.
struct MigrationRecord: Sendable, Hashable {
  let id: String
  let bundleId: String
  let startedAt: Int64
  let updatedAt: Int64
  /// All receipts: the sum of the next four counts.
  let receipts: Int64
  /// Receipts whose purchases another receipt of the migration had named before.
  let duplicates: Int64
  /// Receipts without a purchase.
  let noPurchase: Int64
  /// Receipts that failed before they were queued, such as malformed ones.
  let unreadable: Int64
  /// Receipts that were queued to be looked up at Apple, including those whose look-up has ended.
  let queued: Int64
  /// Queued receipts whose look-up succeeded.
  let migrated: Int64
  /// Queued receipts whose look-up failed for good.
  let refused: Int64
  /// The number of transactions that Apple returned.
  let transactions: Int64
  /// The number of subscriptions that Apple returned.
  let subscriptions: Int64
  /// The number of ids and signed transactions of migrated receipts that could not be used.
  let partialFailures: Int64
  /// The number of failures that are counted but not stored, because the setting `migrations.failures` limits the stored ones.
  let failuresNotKept: Int64
  /// Nil unless the migration was cancelled.
  let cancelledAt: Int64?

  enum State: String, Sendable, Hashable { case running, completed, cancelled }

  /// `completed` if no receipt waits.
  var state: State { cancelledAt != nil ? .cancelled : unanswered > 0 ? .running : .completed }
  /// Receipts that are still to be looked up at Apple.
  var waiting: Int64 { cancelledAt == nil ? unanswered : 0 }
  /// Receipts that are not looked up, because the migration was cancelled before.
  var cancelled: Int64 { cancelledAt == nil ? 0 : unanswered }
  /// The share of the receipts that are finished, 0 to 1.
  var progress: Double { receipts == 0 ? 1 : Double(receipts - unanswered) / Double(receipts) }

  private var unanswered: Int64 { max(0, queued - migrated - refused) }
}
