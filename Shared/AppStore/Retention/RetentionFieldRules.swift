/// The rules for identifiers in retention messaging. They are those of ``OfferRules``, but throw ``RequestRefusal``.
enum RetentionFieldRules {
  /// A UUID with hyphens, returned in lower case.
  static func uuid(_ text: String, _ field: String) throws(RequestRefusal) -> String {
    do throws(SigningRefusal) { return try OfferRules.uuid(text, field) } catch { throw RequestRefusal(field: field, error.reason) }
  }

  /// A required text of limited length without control characters.
  static func text(_ text: String?, _ field: String) throws(RequestRefusal) -> String {
    do throws(SigningRefusal) { return try OfferRules.text(text, field) } catch { throw RequestRefusal(field: field, error.reason) }
  }
}
