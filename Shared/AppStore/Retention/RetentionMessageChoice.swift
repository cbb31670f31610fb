/// The message to show: one for all locales, or one for each. Messages have no language themselves, so this maps locales to messages.
public struct RetentionMessageChoice: Sendable, Hashable {
  /// The message for other locales; nil if there is none.
  public let otherwise: String?
  /// By locale.
  public let byLocale: [LocaleTag: String]

  /// - Parameters:
  ///   - message: a UUID.
  ///   - byLocale: UUIDs by locale; `*` stands for all others.
  ///   - field: the prefix of field names in errors.
  public init(message: String? = nil, byLocale: [String: String] = [:], field: String = "message") throws(RequestRefusal) {
    var otherwise = try message.map { text throws(RequestRefusal) in try RetentionFieldRules.uuid(text, field) }
    var known: [LocaleTag: String] = [:]
    for (name, text) in byLocale.sorted(by: { $0.key < $1.key }) {
      let id = try RetentionFieldRules.uuid(text, "\(field).\(name)")
      if name == "*" {
        otherwise = id
        continue
      }
      guard let locale = LocaleTag(name) else { throw RequestRefusal(field: "\(field).\(name)", "is not a locale such as en or en-US") }
      guard known.updateValue(id, forKey: locale) == nil else { throw RequestRefusal(field: "\(field).\(name)", "occurs twice") }
    }
    guard otherwise != nil || !known.isEmpty else { throw RequestRefusal(field: field, "names no message") }
    self.otherwise = otherwise
    self.byLocale = known
  }

  /// The message for a locale: its own, or that of its longest prefix. `locale` is evaluated only if there is a message for some locale.
  public func identifier(for locale: @autoclosure () -> LocaleTag?) -> String? {
    guard !byLocale.isEmpty, let locale = locale() else { return otherwise }
    for candidate in locale.widening {
      if let found = byLocale[candidate] { return found }
    }
    return otherwise
  }
}
