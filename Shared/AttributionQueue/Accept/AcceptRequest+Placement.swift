import Cryptography

/// The shard, the id and the order line of a delivery.
extension DeduplicationStore {
  /// Identifies the order line of the request; nil if it keeps no order.
  func line(_ request: AcceptRequest) -> String? {
    guard request.keepsOrder, let orderKey = request.orderKey else { return nil }
    return Hex.encode(digest(orderKey)[16..<32])
  }

  func deliveryID(_ request: AcceptRequest) -> DeliveryID { deliveryID(request, digest: digest(request.idempotencyKey)) }

  /// - Parameter digest: ``digest(_:)`` of the idempotency key.
  func deliveryID(_ request: AcceptRequest, digest: [UInt8]) -> DeliveryID {
    let place = (request.orderKey ?? request.naturalKey).map(self.digest) ?? digest
    return DeliveryID(shard: Shard(Int(place[0])), digest: Hex.encode(digest[16..<32]))
  }
}
