import AttributionProtocol

extension Migration {
  init(_ record: MigrationRecord) {
    self.init()
    migrationId = record.id
    bundleId = record.bundleId
    state = record.state.rawValue
    progress = record.progress
    receipts = record.receipts
    duplicates = record.duplicates
    noPurchase = record.noPurchase
    migrated = record.migrated
    failed = record.unreadable + record.refused
    waiting = record.waiting
    transactions = record.transactions
    subscriptions = record.subscriptions
    partialFailures = record.partialFailures
    startedAt = Timestamp(millisecondsSince1970: record.startedAt)
    updatedAt = Timestamp(millisecondsSince1970: record.updatedAt)
    if let moment = record.cancelledAt {
      cancelled = record.cancelled
      cancelledAt = Timestamp(millisecondsSince1970: moment)
    }
  }
}

extension MigrationFailure {
  init(_ record: MigrationFailureRecord) {
    self.init()
    id = record.receiptId
    reason = record.reason
    message = record.message
    errorCode = record.errorCode
    transactionIds = record.transactionIds
    failedAt = Timestamp(millisecondsSince1970: record.failedAt)
  }
}
