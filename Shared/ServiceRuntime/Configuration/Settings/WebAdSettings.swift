public import PublicSuffixes

/// The section `webAds`: the rules for sites of web ads.
public struct WebAdSettings: Sendable, Hashable {
  /// The rule for a site's name in an impression that is signed.
  public enum Signing: String, Sendable, Hashable, CaseIterable { case registrable, form }
  /// What events say about the site of a postback.
  public enum Postbacks: String, Sendable, Hashable, CaseIterable { case mark, ignore }

  /// A file with the public suffix list, instead of the one that libpsl was built with.
  public var publicSuffixList: String?
  /// The rule for `sourceDomain` in an impression that is signed: `registrable` (by the public suffix list) or `form` (only its syntax is
  /// checked).
  public var signing = Signing.registrable
  /// Whether events of verified postbacks contain the list's result for their `source-domain` (`mark`) or not (`ignore`). No postback is
  /// rejected because of it.
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
  /// The public suffix list. Throws if the file is not one, if no file is given and libpsl has no list of its own, or if libpsl is missing.
  public func suffixes() throws(ConfigurationError) -> PublicSuffixList {
    let key = "webAds.publicSuffixList"
    guard PublicSuffixList.isAvailable else { throw ConfigurationError(key, "needs libpsl.so.5, which is not on this machine") }
    guard let path = publicSuffixList else {
      if let list = PublicSuffixList.builtIn { return list }
      throw ConfigurationError(key, "must be given: libpsl was built without a list")
    }
    guard let list = PublicSuffixList(path: path) else {
      throw ConfigurationError(key, "\(path) cannot be read, or is no public suffix list")
    }
    return list
  }
}
