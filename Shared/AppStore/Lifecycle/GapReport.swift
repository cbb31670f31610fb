import WireJSON

/// A gap that late notifications have not closed. Verifier reports it to notification-recovery, which looks it up at Apple (queue `gaps`).
public struct GapReport: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "gap"

  public let environment: String
  public let originalTransactionId: String
  /// Nil if no step of the history names the app.
  public let bundleId: String?
  public let gap: SubscriptionGap
  /// The time at which the gap was found, milliseconds since 1970.
  public let foundAt: Int64

  public init(environment: String, originalTransactionId: String, bundleId: String?, gap: SubscriptionGap, foundAt: Int64) {
    self.environment = environment
    self.originalTransactionId = originalTransactionId
    self.bundleId = bundleId
    self.gap = gap
    self.foundAt = foundAt
  }

  /// The key of the report, which depends only on the gap. It is also the id of the gap's event.
  public var key: String { Self.key(environment: environment, originalTransactionId: originalTransactionId, gapId: gap.id) }

  static func key(environment: String, originalTransactionId: String, gapId: String) -> String {
    "gap:\(environment):\(originalTransactionId):\(gapId)"
  }

  /// The message's body.
  public var body: [UInt8] {
    var object: JSONObject = [
      "environment": .string(environment), "originalTransactionId": .string(originalTransactionId), "gap": .object(gap.json),
      "foundAt": .integer(foundAt),
    ]
    object["bundleId"] = bundleId.map { .string($0) }
    return JSONValue.object(object).serialized
  }

  /// Parses a message's body; nil if it is invalid.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let environment = object["environment"]?.stringValue,
      let id = object["originalTransactionId"]?.stringValue, let gap = object["gap"]?.objectValue.flatMap({ SubscriptionGap(json: $0) }),
      let foundAt = object["foundAt"]?.int64Value
    else { return nil }
    self.init(
      environment: environment, originalTransactionId: id, bundleId: object["bundleId"]?.stringValue, gap: gap, foundAt: foundAt)
  }
}
