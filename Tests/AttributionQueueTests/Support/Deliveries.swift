import Foundation

@testable import AttributionQueue

extension AcceptRequest {
  /// A delivery with its own natural key and bytes.
  static func delivery(_ natural: String, bytes: String = "", order: String? = nil, notBefore: Int64? = nil) -> AcceptRequest {
    AcceptRequest(
      queue: .intake, idempotencyKey: natural + "#" + bytes, orderKey: order, naturalKey: natural,
      message: QueueMessage(
        kind: "test", body: Array((natural + bytes).utf8), attributes: ["natural": natural], receivedAt: DeliveryQueue.now, source: "public"
      ),
      notBefore: notBefore)
  }
}

extension Completion {
  static func verified(_ natural: String) -> Completion {
    Completion(
      state: .verified, naturalKey: natural,
      events: [
        EventRecord(
          id: natural, type: "attribution.skadnetwork.postback.verified.v1", json: Array(#"{"id":"\#(natural)"}"#.utf8))
      ])
  }
}

extension EventFeed {
  /// Pulls and acknowledges events until there are none, and returns their ids.
  func drain(_ name: String, wait: Duration = .milliseconds(300)) async throws -> [String] {
    var ids: [String] = []
    while true {
      let events = try await pull(name, limit: 100, wait: wait, lease: .seconds(30))
      if events.isEmpty { return ids }
      _ = try await acknowledge(name, ackIds: events.map(\.ackId))
      ids += events.map {
        String(decoding: $0.json, as: UTF8.self).replacingOccurrences(of: "{\"id\":\"", with: "").replacingOccurrences(of: "\"}", with: "")
      }
    }
  }
}
