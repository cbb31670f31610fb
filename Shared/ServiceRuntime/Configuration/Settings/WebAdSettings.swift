public import PublicSuffixes

/// How the sites of web ads are judged (YAML `webAds`).
public struct WebAdSettings: Sendable, Hashable {
  /// What a site's name must be where an impression is signed.
  public enum Signing: String, Sendable, Hashable, CaseIterable { case registrable, form }
  /// What is said of the site in a postback.
  public enum Postbacks: String, Sendable, Hashable, CaseIterable { case mark, ignore }

  /// A file with the public suffix list, instead of the one that libpsl was built with.
  public var publicSuffixList: String?
  /// What `sourceDomain` must be in an impression that is signed: `registrable` by the list, or only of the right `form`.
  public var signing = Signing.registrable
  /// Whether events of verified postbacks say what the list makes of their `source-domain` (`mark`) or not (`ignore`). No postback is rejected
  /// for it.
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
  /// The list that names are judged by. Throws where the file is none, where none is given and libpsl has none in itself, and where there is no libpsl.
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
