public import WireJSON

/// The device's request for a signed web ad (Get a Signed Web Ad Impression Payload).
public struct WebPayloadRequest: Sendable, Hashable {
  /// The value of `source_engagement_type` for a tap, the only kind of engagement.
  public static let clickToAppStore = "click_to_App_Store"

  public let nonce: WebAdNonce
  public let sourceDomain: String

  /// Validates the values of a request. Throws ``FieldError``.
  ///
  /// - Parameters:
  ///   - version: may be later than 4.0. The response states which version is signed.
  ///   - names: the names of the fields in errors.
  public init(
    nonce: String?, sourceDomain: String?, version: String?, names: (nonce: String, domain: String) = ("sourceNonce", "sourceDomain")
  )
    throws(FieldError)
  {
    guard let nonce else { throw FieldError(field: names.nonce, reason: "is required") }
    self.nonce = try WebAdNonce(validating: nonce, field: names.nonce)
    // The device found the domain with its own public suffix list. If ours is older, a check with it would refuse genuine ads.
    self.sourceDomain = try SourceDomainRule.form.checked(sourceDomain, field: names.domain)
    guard let version else { throw FieldError(field: "version", reason: "is required") }
    let parts = version.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 2, let major = Int(parts[0]), Int(parts[1]) != nil, major >= 4, version.utf8.count <= 8 else {
      throw FieldError(field: "version", reason: "must be 4.0 or later")
    }
  }

  /// Reads the body of a device's request, under Apple's names. Throws ``FieldError``.
  public init(_ object: JSONObject) throws(FieldError) {
    func text(_ name: String) throws(FieldError) -> String? {
      guard let value = object[name], !value.isNull else { return nil }
      guard let text = value.stringValue else { throw FieldError(field: name, reason: "must be a string") }
      return text
    }
    try self.init(
      nonce: try text("source_nonce"), sourceDomain: try text("source_domain"), version: try text("version"),
      names: ("source_nonce", "source_domain"))
    guard try text("source_engagement_type") == Self.clickToAppStore else {
      throw FieldError(field: "source_engagement_type", reason: "must be \(Self.clickToAppStore)")
    }
  }
}
