// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// A SKAdNetwork postback that Apple signed.
public struct SKAdNetworkPostbackVerifiedEvent: EventData {
  public static let eventType = EventType.skadnetworkPostbackVerified

  public var deliveryId: String?
  /// public, or the kind of recovery that fetched it.
  public var source: String?
  public var receivedAt: Timestamp?
  public var traceparent: String?
  public var version: String?
  /// production or development.
  public var environment: String?
  public var keyId: String?
  public var transactionId: String?
  public var postback: SKAdNetworkPostbackPayload?
  /// The members under Apple's names that are not signed. Anybody who has the postback can change them.
  public var unsigned: JSONObject?
  /// The lowest tier of privacy with which Apple sends these fields, 0 to 3.
  public var tierAtLeast: Int32?
  /// The fields that Apple withheld for privacy.
  public var withheld: [String]
  /// The app's meaning of the conversion value.
  public var conversion: JSONObject?
  /// The ad network's meaning of the source identifier.
  public var placement: JSONObject?
  /// For web ads, if the configuration enables it: the public suffix list's result for source-domain.
  public var sourceDomain: SourceDomainReading?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    deliveryId: String? = nil,
    source: String? = nil,
    receivedAt: Timestamp? = nil,
    traceparent: String? = nil,
    version: String? = nil,
    environment: String? = nil,
    keyId: String? = nil,
    transactionId: String? = nil,
    postback: SKAdNetworkPostbackPayload? = nil,
    unsigned: JSONObject? = nil,
    tierAtLeast: Int32? = nil,
    withheld: [String] = [],
    conversion: JSONObject? = nil,
    placement: JSONObject? = nil,
    sourceDomain: SourceDomainReading? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.deliveryId = deliveryId
    self.source = source
    self.receivedAt = receivedAt
    self.traceparent = traceparent
    self.version = version
    self.environment = environment
    self.keyId = keyId
    self.transactionId = transactionId
    self.postback = postback
    self.unsigned = unsigned
    self.tierAtLeast = tierAtLeast
    self.withheld = withheld
    self.conversion = conversion
    self.placement = placement
    self.sourceDomain = sourceDomain
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "deliveryId":
        if let value = OpenValue.string(member.value) {
          deliveryId = value
          continue
        }
      case "source":
        if let value = OpenValue.string(member.value) {
          source = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "traceparent":
        if let value = OpenValue.string(member.value) {
          traceparent = value
          continue
        }
      case "version":
        if let value = OpenValue.string(member.value) {
          version = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "keyId":
        if let value = OpenValue.string(member.value) {
          keyId = value
          continue
        }
      case "transactionId":
        if let value = OpenValue.string(member.value) {
          transactionId = value
          continue
        }
      case "postback":
        if let value: SKAdNetworkPostbackPayload = OpenValue.message(member.value) {
          postback = value
          continue
        }
      case "unsigned":
        if let value: JSONObject = OpenValue.object(member.value) {
          unsigned = value
          continue
        }
      case "tierAtLeast":
        if let value = OpenValue.int32(member.value) {
          tierAtLeast = value
          continue
        }
      case "withheld":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          withheld = value
          continue
        }
      case "conversion":
        if let value: JSONObject = OpenValue.object(member.value) {
          conversion = value
          continue
        }
      case "placement":
        if let value: JSONObject = OpenValue.object(member.value) {
          placement = value
          continue
        }
      case "sourceDomain":
        if let value: SourceDomainReading = OpenValue.message(member.value) {
          sourceDomain = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "deliveryId", deliveryId.map { .string($0) })
    object.append(new: "source", source.map { .string($0) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "traceparent", traceparent.map { .string($0) })
    object.append(new: "version", version.map { .string($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "keyId", keyId.map { .string($0) })
    object.append(new: "transactionId", transactionId.map { .string($0) })
    object.append(new: "postback", postback.map { .object($0.object) })
    object.append(new: "unsigned", unsigned.map { .object($0) })
    object.append(new: "tierAtLeast", tierAtLeast.map { .integer($0) })
    if !withheld.isEmpty { object.append(new: "withheld", .array(withheld.map { .string($0) })) }
    object.append(new: "conversion", conversion.map { .object($0) })
    object.append(new: "placement", placement.map { .object($0) })
    object.append(new: "sourceDomain", sourceDomain.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// The public suffix list's result for a source-domain. It is only information, because Apple signed the postback.
public struct SourceDomainReading: OpenMessage {
  /// Whether the name is a registrable domain, as Apple requires.
  public var registrable: Bool?
  /// The registrable domain of the name; absent if the name is a public suffix or not a domain.
  public var registrableDomain: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    registrable: Bool? = nil,
    registrableDomain: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.registrable = registrable
    self.registrableDomain = registrableDomain
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "registrable":
        if let value = OpenValue.bool(member.value) {
          registrable = value
          continue
        }
      case "registrableDomain":
        if let value = OpenValue.string(member.value) {
          registrableDomain = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "registrable", registrable.map { .bool($0) })
    object.append(new: "registrableDomain", registrableDomain.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// An AdAttributionKit postback that Apple signed.
public struct AdAttributionKitPostbackVerifiedEvent: EventData {
  public static let eventType = EventType.adAttributionKitPostbackVerified

  public var deliveryId: String?
  public var source: String?
  public var receivedAt: Timestamp?
  public var traceparent: String?
  /// production or development.
  public var environment: String?
  public var keyId: String?
  public var postback: AdAttributionKitPostbackPayload?
  public var unsigned: JSONObject?
  public var tierAtLeast: Int32?
  public var withheld: [String]
  public var conversion: JSONObject?
  public var placement: JSONObject?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    deliveryId: String? = nil,
    source: String? = nil,
    receivedAt: Timestamp? = nil,
    traceparent: String? = nil,
    environment: String? = nil,
    keyId: String? = nil,
    postback: AdAttributionKitPostbackPayload? = nil,
    unsigned: JSONObject? = nil,
    tierAtLeast: Int32? = nil,
    withheld: [String] = [],
    conversion: JSONObject? = nil,
    placement: JSONObject? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.deliveryId = deliveryId
    self.source = source
    self.receivedAt = receivedAt
    self.traceparent = traceparent
    self.environment = environment
    self.keyId = keyId
    self.postback = postback
    self.unsigned = unsigned
    self.tierAtLeast = tierAtLeast
    self.withheld = withheld
    self.conversion = conversion
    self.placement = placement
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "deliveryId":
        if let value = OpenValue.string(member.value) {
          deliveryId = value
          continue
        }
      case "source":
        if let value = OpenValue.string(member.value) {
          source = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "traceparent":
        if let value = OpenValue.string(member.value) {
          traceparent = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "keyId":
        if let value = OpenValue.string(member.value) {
          keyId = value
          continue
        }
      case "postback":
        if let value: AdAttributionKitPostbackPayload = OpenValue.message(member.value) {
          postback = value
          continue
        }
      case "unsigned":
        if let value: JSONObject = OpenValue.object(member.value) {
          unsigned = value
          continue
        }
      case "tierAtLeast":
        if let value = OpenValue.int32(member.value) {
          tierAtLeast = value
          continue
        }
      case "withheld":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          withheld = value
          continue
        }
      case "conversion":
        if let value: JSONObject = OpenValue.object(member.value) {
          conversion = value
          continue
        }
      case "placement":
        if let value: JSONObject = OpenValue.object(member.value) {
          placement = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "deliveryId", deliveryId.map { .string($0) })
    object.append(new: "source", source.map { .string($0) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "traceparent", traceparent.map { .string($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "keyId", keyId.map { .string($0) })
    object.append(new: "postback", postback.map { .object($0.object) })
    object.append(new: "unsigned", unsigned.map { .object($0) })
    object.append(new: "tierAtLeast", tierAtLeast.map { .integer($0) })
    if !withheld.isEmpty { object.append(new: "withheld", .array(withheld.map { .string($0) })) }
    object.append(new: "conversion", conversion.map { .object($0) })
    object.append(new: "placement", placement.map { .object($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
