/// What the submissions of one token say beside the token: the same token may be posted again, later and with more.
///
/// ``join(_:)`` adds what a later submission says. What contradicts an earlier one is only named; of two ATT statuses, the stricter one counts.
public struct TokenClaims: Sendable, Hashable {
  public let bundleId: String
  public private(set) var installId: String?
  /// The ATT status that came with the token; nil if no submission states one.
  public private(set) var attStatus: ATTStatus?
  /// The earliest creation time that a submission states, milliseconds since 1970.
  public private(set) var createdAt: Int64
  /// The fields in which a later submission contradicted an earlier one, in alphabetical order.
  public private(set) var conflicting: [String]

  public init(bundleId: String, installId: String?, attStatus: ATTStatus?, createdAt: Int64, conflicting: [String] = []) {
    self.bundleId = bundleId
    self.installId = installId
    self.attStatus = attStatus
    self.createdAt = createdAt
    self.conflicting = conflicting
  }

  /// The time at which the token expires, milliseconds since 1970. Apple is not called later.
  public var deadline: Int64 { createdAt + AttributionToken.lifetimeMilliseconds }

  /// Adds what a later submission of the same token says. Returns false if that is nothing new, apart from the creation time.
  @discardableResult
  public mutating func join(_ later: TokenClaims) -> Bool {
    let before = self
    var conflicts = Set(conflicting)
    if bundleId != later.bundleId { conflicts.insert("bundleId") }
    if let installId, let other = later.installId, installId != other { conflicts.insert("installId") }
    if let attStatus, let other = later.attStatus, attStatus != other {
      conflicts.insert("attStatus")
      if other.strictness > attStatus.strictness { self.attStatus = other }
    }
    installId = installId ?? later.installId
    attStatus = attStatus ?? later.attStatus
    createdAt = min(createdAt, later.createdAt)
    conflicting = conflicts.sorted()
    return (installId, attStatus, conflicting) != (before.installId, before.attStatus, before.conflicting)
  }
}

extension TokenClaims {
  /// The attributes of a message.
  public var attributes: [String: String] {
    var attributes = ["bundleId": bundleId, "createdAt": String(createdAt)]
    attributes["installId"] = installId
    attributes["attStatus"] = attStatus.map { String($0.code) }
    return attributes
  }

  /// Reads ``attributes``; nil if they are damaged.
  public init?(attributes: [String: String]) {
    guard let bundleId = attributes["bundleId"], let createdAt = attributes["createdAt"].flatMap({ Int64($0) }) else { return nil }
    self.init(
      bundleId: bundleId, installId: attributes["installId"],
      attStatus: attributes["attStatus"].map { Int64($0).map { ATTStatus(code: $0) } ?? .unavailable }, createdAt: createdAt)
  }
}

extension ATTStatus {
  /// Of two statuses that are stated for one token, the one with the higher number counts.
  fileprivate var strictness: Int {
    switch self {
    case .authorized: 0
    case .notDetermined: 1
    case .restricted, .denied, .unavailable, .unknown: 2
    }
  }
}
