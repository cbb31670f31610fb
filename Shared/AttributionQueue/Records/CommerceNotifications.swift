public import RedisClient
import WireJSON

/// Finds the notifications of an Advanced Commerce request, or of a purchase that a server changed. Verifier writes an entry before it
/// publishes the notification's event, so that the entry exists whenever the event does; notification-recovery reads it. Writing an entry
/// twice has no effect.
public struct CommerceNotifications: Sendable {
  public struct Entry: Sendable, Hashable {
    /// The id of the notification's event.
    public let eventId: String
    public let type: String
    public let subtype: String?
    public let uuid: String
    /// Milliseconds since 1970.
    public let signedDate: Int64
    /// The requests that the notification names, in lower case.
    public let references: Set<String>

    public init(eventId: String, type: String, subtype: String?, uuid: String, signedDate: Int64, references: Set<String>) {
      self.eventId = eventId
      self.type = type
      self.subtype = subtype
      self.uuid = uuid
      self.signedDate = signedDate
      self.references = references
    }

    init?(json: [UInt8]) {
      guard let object = try? JSONValue(parsing: json).objectValue, let eventId = object["eventId"]?.stringValue,
        let type = object["type"]?.stringValue, let uuid = object["uuid"]?.stringValue
      else { return nil }
      self.init(
        eventId: eventId, type: type, subtype: object["subtype"]?.stringValue, uuid: uuid,
        signedDate: object["signedDate"]?.int64Value ?? 0,
        references: Set((object["references"]?.arrayValue ?? []).compactMap(\.stringValue)))
    }

    var json: [UInt8] {
      var object: JSONObject = [
        "eventId": .string(eventId), "type": .string(type), "uuid": .string(uuid), "signedDate": .integer(signedDate),
      ]
      object["subtype"] = subtype.map { .string($0) }
      if !references.isEmpty { object["references"] = .array(references.sorted().map { .string($0) }) }
      return JSONValue.object(object).serialized
    }
  }

  /// How long the entries of a request or purchase are stored after the last one was added, seconds.
  private static let entrySeconds: Int64 = 180 * 86_400
  /// The maximum number of entries for each request or purchase: every renewal of a subscription names the request that created it.
  private static let maxEntries: Int64 = 100

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  /// What a notification is found by.
  public enum Subject: Sendable, Hashable {
    /// The `requestReferenceId` of a request.
    case reference(String)
    /// The original transaction of a purchase. Only notifications about a change that a server requested are stored for it.
    case purchase(String)

    fileprivate var text: String {
      switch self {
      case .reference(let id): id.lowercased()
      case .purchase(let id): "purchase:" + id
      }
    }
  }

  private static func key(_ bundleId: String, _ subject: Subject) -> String {
    Keys.own("commerce", "notifications:\(bundleId):\(subject.text)", shardOf: subject.text)
  }

  /// Adds a notification, unless as many as allowed are stored.
  public func add(_ entry: Entry, bundleId: String, _ subject: Subject) async throws(RedisError) {
    _ = try await Scripts.commerceNotificationAdd.run(
      redis, [Self.key(bundleId, subject)],
      [.string(entry.uuid), .bytes(entry.json), .integer(Self.maxEntries), .integer(Self.entrySeconds)])
  }

  /// The notifications of a request or purchase, oldest first.
  public func list(bundleId: String, _ subject: Subject) async throws(RedisError) -> [Entry] {
    let reply = try await redis.send(["HVALS", .string(Self.key(bundleId, subject))])
    let entries = (reply.array ?? []).compactMap(\.bytes).compactMap(Entry.init(json:))
    return entries.sorted { ($0.signedDate, $0.uuid) < ($1.signedDate, $1.uuid) }
  }
}

extension DeliveryQueue {
  /// Notifications by the Advanced Commerce requests that they name.
  public var commerceNotifications: CommerceNotifications { CommerceNotifications(redis: redis) }
}
