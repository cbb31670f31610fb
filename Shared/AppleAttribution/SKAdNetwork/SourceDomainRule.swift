public import PublicSuffixes

/// The rule for the name of the site that shows a web ad. Apple requires a registrable domain (Get a Signed Web Ad Impression Payload).
public enum SourceDomainRule: Sendable {
  /// A well-formed name, checked without a public suffix list. This rule is for names from devices, whose own list may be newer than ours.
  /// A name that begins with `www.` is accepted: without a list, `www.gov.uk`, which is registrable, cannot be distinguished from
  /// `www.example.com`, which is not.
  case form
  /// A registrable domain by that list.
  case registrable(PublicSuffixList)

  /// Checks a required name and returns it. It must be a domain in lower case without scheme, port, path or dot at the end, and not an IP
  /// address. By the rule ``registrable(_:)`` it must also be registrable, as `example.co.uk` is; `co.uk` and `shop.example.co.uk` are not.
  /// Throws ``FieldError``.
  public func checked(_ value: String?, field: String = "sourceDomain") throws(FieldError) -> String {
    guard let value, !value.isEmpty else { throw FieldError(field: field, reason: "is required") }
    guard Self.isWellFormed(value) else {
      throw FieldError(field: field, reason: "must be a registrable domain in lower case without scheme, port or path")
    }
    try checkRegistrable(value, field: field)
    return value
  }

  /// True for at least two labels as in DNS. The last one must not consist of digits only, so that no IP address is accepted.
  private static func isWellFormed(_ domain: String) -> Bool {
    guard domain.utf8.count <= ImpressionRules.maxNameBytes else { return false }
    let labels = domain.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
    let areLabels = labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
        && label.allSatisfy { ImpressionRules.isLowerOrDigit($0) || $0 == 0x2D }
    }
    return areLabels && labels.count >= 2 && !labels.last!.allSatisfy { (48...57).contains($0) }
  }

  private func checkRegistrable(_ domain: String, field: String) throws(FieldError) {
    guard case .registrable(let list) = self, !list.isRegistrable(domain) else { return }
    guard let registrable = list.registrableDomain(of: domain) else {
      throw FieldError(field: field, reason: "is a public suffix, under which domains are registered; must be a registrable domain")
    }
    throw FieldError(field: field, reason: "must be the registrable domain, which is \(registrable)")
  }
}
