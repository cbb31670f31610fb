/// Which message to show: one for all locales, or one for each locale. At Apple, messages have no language, so locales are mapped to
/// messages here.
public struct RetentionMessageChoice: Sendable, Hashable {
  /// The message for locales without a message of their own; nil if there is none.
  public let fallback: String?
  /// The messages' identifiers by locale.
  public let byLocale: [LocaleTag: String]

  /// Throws ``RequestRefusal`` for an invalid identifier or locale, and if there is no message.
  ///
  /// - Parameters:
  ///   - message: the UUID of the message for all locales.
  ///   - byLocale: UUIDs of messages by locale; `*` stands for all other locales.
  ///   - field: the prefix of field names in errors.
  public init(message: String? = nil, byLocale: [String: String] = [:], field: String = "message") throws(RequestRefusal) {
    var fallback = try message.map { text throws(RequestRefusal) in try RetentionFieldRules.uuid(text, field) }
    var known: [LocaleTag: String] = [:]
    for (name, text) in byLocale.sorted(by: { $0.key < $1.key }) {
      let id = try RetentionFieldRules.uuid(text, "\(field).\(name)")
      if name == "*" {
        fallback = id
        continue
      }
      guard let locale = LocaleTag(name) else { throw RequestRefusal(field: "\(field).\(name)", "is not a locale such as en or en-US") }
      guard known.updateValue(id, forKey: locale) == nil else { throw RequestRefusal(field: "\(field).\(name)", "occurs twice") }
    }
    guard fallback != nil || !known.isEmpty else { throw RequestRefusal(field: field, "names no message") }
    self.fallback = fallback
    self.byLocale = known
  }

  /// The message for a locale: its own, or that of its longest prefix that has one. Nil if there is none. `locale` is evaluated only if the
  /// choice depends on it.
  public func identifier(for locale: @autoclosure () -> LocaleTag?) -> String? {
    guard !byLocale.isEmpty, let locale = locale() else { return fallback }
    for candidate in locale.selfAndPrefixes {
      if let found = byLocale[candidate] { return found }
    }
    return fallback
  }
}
