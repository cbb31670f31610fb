import Cryptography

/// The common rules for impressions of both frameworks. Each throws ``FieldError`` with the field's name in the request.
public enum ImpressionRules {
  /// The longest ad network id and domain, bytes.
  public static let maxNameBytes = 253
  /// The greatest difference between now and an impression's timestamp, milliseconds.
  static let timestampTolerance: Int64 = 86_400_000

  /// A required ad network id. Apple registers ids in lower case, so an id in upper case is refused, and not converted.
  public static func adNetworkId(_ value: String?) throws(FieldError) -> String {
    let field = "adNetworkId"
    guard let value, !value.isEmpty else { throw FieldError(field: field, reason: "is required") }
    guard !value.utf8.contains(where: { (65...90).contains($0) }) else {
      throw FieldError(field: field, reason: "must be lower case, as Apple registered it")
    }
    guard value.utf8.count <= maxNameBytes, value.utf8.allSatisfy({ isLowerOrDigit($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x5F })
    else { throw FieldError(field: field, reason: "must be at most \(maxNameBytes) letters, digits, dots, hyphens and underscores") }
    return value
  }

  /// A required integer within a range. `rule` is the error's text for another integer.
  static func integer(_ value: Int64?, _ range: ClosedRange<Int64>, field: String, _ rule: String) throws(FieldError) -> Int64 {
    guard let value else { throw FieldError(field: field, reason: "is required") }
    guard range.contains(value) else { throw FieldError(field: field, reason: rule) }
    return value
  }

  /// 1–100; in versions of SKAdNetwork before 4.0.
  static func campaignId(_ value: Int64?) throws(FieldError) -> Int64 {
    try integer(value, 1...100, field: "campaignId", "must be 1 to 100")
  }

  /// A required source identifier, 0 to 9999.
  static func sourceIdentifier(_ value: Int64?) throws(FieldError) -> Int64 {
    try integer(value, 0...9999, field: "sourceIdentifier", "must be 0 to 9999")
  }

  /// The number of digits of a source identifier in the signed text. If there are fewer than four, Apple does not define which of them a
  /// postback contains in a lower privacy tier.
  static func digits(ofSourceIdentifier value: Int64) -> Int { String(value).utf8.count }

  /// A timestamp, milliseconds since 1970; `now` if it is absent. It must be at most a day from `now`, unless any time is allowed.
  static func timestamp(_ value: Int64?, now: Int64, allowsAnyTime: Bool) throws(FieldError) -> Int64 {
    guard let value else { return now }
    let field = "timestamp"
    guard value > 0 else { throw FieldError(field: field, reason: "must be milliseconds since 1970") }
    guard !allowsAnyTime else { return value }
    let (distance, overflow) = value.subtractingReportingOverflow(now)
    guard !overflow, distance.magnitude <= timestampTolerance.magnitude else {
      let (asSeconds, tooLarge) = value.multipliedReportingOverflow(by: 1000)
      let isSeconds = !tooLarge && (asSeconds - now).magnitude <= timestampTolerance.magnitude
      throw FieldError(
        field: field,
        reason: isSeconds ? "is in seconds, but must be milliseconds since 1970" : "is more than a day from now")
    }
    return value
  }

  /// A UUID with hyphens, as written, in either case; a new one if it is absent.
  static func uuid(_ value: String?, field: String) throws(FieldError) -> String {
    guard let value else { return RandomBytes.uuid() }
    guard UUIDText.isValid(value) else { throw FieldError(field: field, reason: "must be a UUID") }
    return value
  }

  /// True for lower-case letters and digits of ASCII.
  static func isLowerOrDigit(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (48...57).contains(byte) }
}
