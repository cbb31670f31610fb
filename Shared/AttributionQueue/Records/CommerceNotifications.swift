public import RedisClient
import WireJSON

/// An index from Advanced Commerce requests to the notifications that name them. The verifier writes an entry before it publishes the
/// notification's event, so that the entry exists whenever the event does; notification-recovery reads it. Writing an entry twice has no
/// effect.
public struct CommerceNotifications: Sendable {
  public struct Entry: Sendable, Hashable {
    /// The id of the notification's event.
    public let eventId: String
    public let type: String
    public let subtype: String?
    public let uuid: String
    /// Milliseconds since 1970.
    public let signedDate: Int64

    public init(eventId: String, type: String, subtype: String?, uuid: String, signedDate: Int64) {
      self.eventId = eventId
      self.type = type
      self.subtype = subtype
      self.uuid = uuid
      self.signedDate = signedDate
    }

    init?(json: [UInt8]) {
      guard let object = try? JSONValue(parsing: json).objectValue, let eventId = object["eventId"]?.stringValue,
        let type = object["type"]?.stringValue, let uuid = object["uuid"]?.stringValue
      else { return nil }
      self.init(
        eventId: eventId, type: type, subtype: object["subtype"]?.stringValue, uuid: uuid, signedDate: object["signedDate"]?.int64Value ?? 0
      )
    }

    var json: [UInt8] {
      var object: JSONObject = [
        "eventId": .string(eventId), "type": .string(type), "uuid": .string(uuid), "signedDate": .integer(signedDate),
      ]
      object["subtype"] = subtype.map { .string($0) }
      return JSONValue.object(object).serialized
    }
  }

  /// How long the entries of a request are stored after the last one was added, seconds.
  private static let entrySeconds: Int64 = 180 * 86_400
  /// The maximum number of entries per request: every renewal of a subscription names the request that created it.
  private static let most: Int64 = 100

  // KEYS 1 notifications. ARGV 1 uuid  2 entry  3 most  4 seconds to live.
  private static let add = RedisScript(
    name: "commerce_notification_add",
    source: """
      if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
      redis.call('EXPIRE', KEYS[1], ARGV[4])
      return 1
      """)

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  private static func key(_ bundleId: String, _ reference: String) -> String {
    Keys.own("commerce", "notifications:\(bundleId):\(reference.lowercased())", shardOf: reference.lowercased())
  }

  /// Records that a notification names that request.
  public func add(_ entry: Entry, bundleId: String, reference: String) async throws(RedisError) {
    _ = try await Self.add.run(
      on: redis, keys: [Self.key(bundleId, reference)],
      arguments: [.string(entry.uuid), .bytes(entry.json), .integer(Self.most), .integer(Self.entrySeconds)])
  }

  /// The notifications that name that request, oldest first.
  public func list(bundleId: String, reference: String) async throws(RedisError) -> [Entry] {
    let reply = try await redis.send(["HVALS", .string(Self.key(bundleId, reference))])
    let entries = (reply.array ?? []).compactMap(\.bytes).compactMap(Entry.init(json:))
    return entries.sorted { ($0.signedDate, $0.uuid) < ($1.signedDate, $1.uuid) }
  }
}

extension DeliveryQueue {
  /// Notifications by the Advanced Commerce requests that they name.
  public var commerceNotifications: CommerceNotifications { CommerceNotifications(redis: redis) }
}
