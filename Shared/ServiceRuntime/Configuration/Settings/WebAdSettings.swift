public import PublicSuffixes

/// The section `webAds`: the rules for sites of web ads.
public struct WebAdSettings: Sendable, Hashable {
  /// The rule for the name of the advertising site in a signed impression.
  public enum Signing: String, Sendable, Hashable, CaseIterable { case registrable, form }
  /// Whether the event of a postback describes the postback's site.
  public enum Postbacks: String, Sendable, Hashable, CaseIterable { case mark, ignore }

  /// The file of a public suffix list that replaces the one that is built into libpsl.
  public var publicSuffixList: String?
  /// The rule for `sourceDomain` in a signed impression: `registrable` (it must be a registrable domain by the public suffix list) or
  /// `form` (only its syntax is checked).
  public var signing = Signing.registrable
  /// `mark`: the event of a verified postback has the registrable domain of its `source-domain`, and states whether the `source-domain`
  /// itself is registrable, both by the public suffix list. `ignore`: the event has neither. Neither value rejects a postback.
  public var postbacks = Postbacks.mark

  public init() {}

  init(_ node: ConfigurationNode, _ resolved: (String) -> String, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    publicSuffixList = try node["publicSuffixList"].map { node throws(ConfigurationError) in resolved(try node.text()) }
    if let node = node["signing"] {
      guard let given = Signing(rawValue: try node.text()) else { throw ConfigurationError(node.path, "must be registrable or form") }
      signing = given
    }
    if let node = node["postbacks"] {
      guard let given = Postbacks(rawValue: try node.text()) else { throw ConfigurationError(node.path, "must be mark or ignore") }
      postbacks = given
    }
    unknown += node.unknownKeys(["publicSuffixList", "signing", "postbacks"])
  }
}

extension WebAdSettings {
  /// The public suffix list. Throws if libpsl is missing, if the configured file is not a public suffix list, or if no file is configured
  /// and libpsl has no built-in list.
  public func suffixes() throws(ConfigurationError) -> PublicSuffixList {
    let key = "webAds.publicSuffixList"
    guard PublicSuffixList.isAvailable else { throw ConfigurationError(key, "needs libpsl.so.5, which this machine does not have") }
    guard let path = publicSuffixList else {
      if let list = PublicSuffixList.builtIn { return list }
      throw ConfigurationError(key, "must be given: libpsl was built without a list")
    }
    guard let list = PublicSuffixList(path: path) else {
      throw ConfigurationError(key, "\(path) cannot be read, or is not a public suffix list")
    }
    return list
  }
}
