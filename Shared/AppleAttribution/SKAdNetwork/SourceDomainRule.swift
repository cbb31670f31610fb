public import PublicSuffixes

/// The rule for the site's name in a web ad (Get a Signed Web Ad Impression Payload: a registrable domain).
public enum SourceDomainRule: Sendable {
  /// A well-formed name, which is checked without a public suffix list. For names from devices, which have their own list that may be newer
  /// than ours. A name that begins with `www.` is accepted: without a list, `www.gov.uk`, which is registrable, cannot be told from
  /// `www.example.com`, which is not.
  case form
  /// A registrable domain according to that list.
  case registrable(PublicSuffixList)

  /// Checks a well-formed name.
  func check(_ domain: String, field: String) throws(FieldError) {
    guard case .registrable(let list) = self, !list.isRegistrable(domain) else { return }
    guard let registrable = list.registrableDomain(of: domain) else {
      throw FieldError(field: field, reason: "is a public suffix, under which domains are registered; a registrable domain is needed")
    }
    throw FieldError(field: field, reason: "must be the registrable domain, which is \(registrable)")
  }
}
