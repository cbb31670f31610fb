public import PublicSuffixes

/// What the name of the site in a web ad must be (Get a Signed Web Ad Impression Payload: a registrable domain).
public enum SourceDomainRule: Sendable {
  /// A name in the right form: what can be told without a list of public suffixes. For names that others vouch for: the device has a list
  /// of its own, which may be newer than ours.
  case form
  /// A registrable domain by that list.
  case registrable(PublicSuffixList)

  /// Checks a name that is in the right form.
  func check(_ domain: String, field: String) throws(FieldError) {
    guard case .registrable(let list) = self, !list.isRegistrable(domain) else { return }
    guard let registrable = list.registrableDomain(of: domain) else {
      throw FieldError(field: field, reason: "is a public suffix, under which domains are registered; a registrable domain is needed")
    }
    throw FieldError(field: field, reason: "must be the registrable domain, which is \(registrable)")
  }
}
