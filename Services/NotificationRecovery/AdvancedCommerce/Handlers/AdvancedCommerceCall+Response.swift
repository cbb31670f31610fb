import AppStore
import AttributionProtocol
import AttributionQueue

extension AdvancedCommerceCall {
  init(_ record: CommerceRecord) {
    self.init()
    requestReferenceId = record.reference
    bundleId = record.bundleId
    environment = record.environment
    operation = record.operation
    transactionId = record.transactionId
    state = record.state.rawValue
    startedAt = Timestamp(millisecondsSince1970: record.startedAt)
    completedAt = record.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    response = record.response
    decoded = record.decoded
    lastError = record.lastError
    errorCode = record.errorCode
    errorName = record.errorCode.flatMap(AppStoreServerErrorName.name)
  }
}

extension AdvancedCommerceNotification {
  /// - Parameter namesRequest: true if the notification names the request; false if only its purchase is that of the call.
  init(_ entry: CommerceNotifications.Entry, namesRequest: Bool) {
    self.init()
    eventId = entry.eventId
    notificationType = entry.type
    subtype = entry.subtype
    notificationUuid = entry.uuid
    signedDate = Timestamp(millisecondsSince1970: entry.signedDate)
    joinedBy = namesRequest ? "requestReferenceId" : "purchase"
  }
}
