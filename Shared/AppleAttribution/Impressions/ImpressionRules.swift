import Cryptography

/// The common rules for impressions of both frameworks. Each throws ``FieldError`` with the request's name of the field.
public enum ImpressionRules {
  /// The longest ad network id and domain, bytes.
  public static let maxNameBytes = 253
  /// The greatest difference between now and an impression's timestamp, milliseconds.
  static let timestampTolerance: Int64 = 86_400_000

  /// An ad network id in lower case, as Apple registers it. One in upper case is refused and not converted.
  public static func adNetworkId(_ value: String?) throws(FieldError) -> String {
    let field = "adNetworkId"
    guard let value, !value.isEmpty else { throw FieldError(field: field, reason: "is required") }
    guard !value.utf8.contains(where: { (65...90).contains($0) }) else {
      throw FieldError(field: field, reason: "must be lower case, as Apple registered it")
    }
    guard value.utf8.count <= maxNameBytes, value.utf8.allSatisfy({ isLowerOrDigit($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x5F })
    else { throw FieldError(field: field, reason: "must be letters, digits, dots and hyphens") }
    return value
  }

  /// A required integer within a range.
  static func integer(_ value: Int64?, _ range: ClosedRange<Int64>, field: String, _ what: String) throws(FieldError) -> Int64 {
    guard let value else { throw FieldError(field: field, reason: "is required") }
    guard range.contains(value) else { throw FieldError(field: field, reason: what) }
    return value
  }

  /// 0–9999.
  static func sourceIdentifier(_ value: Int64?) throws(FieldError) -> Int64 {
    try integer(value, 0...9999, field: "sourceIdentifier", "must be 0 to 9999")
  }

  /// The number of digits of a source identifier, as it is signed. If it has fewer than four, Apple does not define which digits a postback
  /// with fewer digits has.
  static func digits(ofSourceIdentifier value: Int64) -> Int { String(value).utf8.count }

  /// Milliseconds since 1970, at most a day from now unless any time is allowed; the current time if it is absent.
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
        reason: isSeconds ? "is in seconds; must be milliseconds since 1970" : "is more than a day from now")
    }
    return value
  }

  /// A UUID with hyphens in either case, as written; a new one if it is absent.
  static func uuid(_ value: String?, field: String) throws(FieldError) -> String {
    guard let value else { return RandomBytes.uuid() }
    guard UUIDText.isValid(value) else { throw FieldError(field: field, reason: "must be a UUID") }
    return value
  }

  /// A domain in lower case: no scheme, port, path, address or dot at the end. `rule` decides whether a name that is not registrable, such as
  /// `co.uk` or `shop.example.co.uk`, is refused.
  public static func domain(
    _ value: String?, field: String = "sourceDomain", rule: SourceDomainRule
  ) throws(FieldError) -> String {
    guard let value, !value.isEmpty else { throw FieldError(field: field, reason: "is required") }
    let wrong = "must be a registrable domain in lower case without scheme, port or path"
    guard value.utf8.count <= maxNameBytes else { throw FieldError(field: field, reason: wrong) }
    let labels = value.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
    let inForm = labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
        && label.allSatisfy { isLowerOrDigit($0) || $0 == 0x2D }
    }
    guard inForm, labels.count >= 2, !labels.last!.allSatisfy({ (48...57).contains($0) }) else {
      throw FieldError(field: field, reason: wrong)
    }
    try rule.check(value, field: field)
    return value
  }

  private static func isLowerOrDigit(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (48...57).contains(byte) }
}
