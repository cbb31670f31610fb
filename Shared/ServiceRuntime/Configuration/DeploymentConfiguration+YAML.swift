import AttributionQueue
import Cryptography

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the sections of the file. Sections with a type of their own are read by its initialiser, in the folder Settings.
extension DeploymentConfiguration {
  /// Reads the file. Relative paths in it are relative to the folder of the file.
  public static func load(path: String) throws(ConfigurationError) -> DeploymentConfiguration {
    let text: String
    do { text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) } catch {
      throw ConfigurationError(path, "the configuration file cannot be read (ATTRIBUTION_CONFIG names it)")
    }
    return try DeploymentConfiguration(yaml: text, file: path, folder: folder(of: path))
  }

  static func folder(of path: String) -> String { path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : "." }

  init(yaml: String, file: String, folder: String) throws(ConfigurationError) {
    try self.init(try ConfigurationNode(yaml: yaml, file: file), folder: folder)
  }

  init(_ root: ConfigurationNode, folder: String) throws(ConfigurationError) {
    self.init()
    func resolved(_ path: String) -> String { path.hasPrefix("/") ? path : folder + "/" + path }
    unknownKeys = root.unknownKeys([
      "adNetworks", "appleKeys", "appStore", "apps", "clients", "limits", "queues", "consentRouting", "events",
      "adServices", "pkcs11", "sourceIdentifiers", "recovery", "migrations", "edge", "push", "traces", "console",
      "retention", "webAds", "metrics", "postbacks",
    ])
    if let node = try root.section("pkcs11") {
      pkcs11Module = resolved(try node.required("module").text())
      unknownKeys += node.unknownKeys(["module"])
    }
    for node in try root["adNetworks"]?.list() ?? [] {
      adNetworks.append(try Self.adNetwork(node, resolved, &unknownKeys))
    }
    if let node = try root.section("appleKeys") {
      appleKeys = try Self.appleKeys(node)
      acceptsDevelopmentSKAdNetwork = try node["acceptsDevelopmentSKAdNetwork"]?.bool() ?? false
      unknownKeys += node.unknownKeys(["p192", "p256", "kids", "acceptsDevelopmentSKAdNetwork"])
    }
    if let node = try root.section("appStore") {
      rootCertificates = try node["rootCertificates"]?.texts().map(resolved) ?? []
      strictCertificates = try node["strictCertificates"]?.bool() ?? true
      acceptsXcodeData = try node["acceptsXcodeData"]?.bool() ?? false
      revocation = try node["revocation"]?.text() ?? revocation
      gapPatience = try node["gapPatience"]?.duration() ?? gapPatience
      silence = try SilenceSettings(node)
      try node.count("receiptTransactionIds", 1...100_000, &receiptTransactionIds)
      unknownKeys += node.unknownKeys([
        "rootCertificates", "strictCertificates", "acceptsXcodeData", "gapPatience", "revocation", "silence", "silenceSweep",
        "silenceBatch", "receiptTransactionIds",
      ])
    }
    if let node = try root.section("migrations") { migrations = try MigrationSettings(node, &unknownKeys) }
    for node in try root["apps"]?.list() ?? [] { apps.append(try Self.app(node, resolved, &unknownKeys)) }
    if let networks = try root.section("sourceIdentifiers") {
      for id in networks.keys {
        sourceIdentifiers[id] = try SourceIdentifierSettings(try networks.required(id).mapping(), &unknownKeys)
      }
    }
    if let node = try root.section("postbacks") { postbacks = try PostbackSettings(node, &unknownKeys) }
    for node in try root["clients"]?.list() ?? [] { clients.append(try Self.client(node, &unknownKeys)) }
    if let node = try root.section("edge") { edge = try EdgeSettings(node, &unknownKeys) }
    if let node = try root.section("limits") { limits = try Limits(node, &unknownKeys) }
    if let node = try root.section("push") { push = try PushSettings(node, &unknownKeys) }
    if let node = try root.section("metrics") { metrics = try MetricsSettings(node, &unknownKeys) }
    if let node = try root.section("traces") { traces = try TraceSettings(node, resolved, &unknownKeys) }
    if let node = try root.section("retention") { retention = try RetentionSettings(node, &unknownKeys) }
    if let node = try root.section("webAds") { webAds = try WebAdSettings(node, resolved, &unknownKeys) }
    if let node = try root.section("console") { console = try ConsoleSettings(node, &unknownKeys) }
    if let node = try root.section("recovery") { recovery = try RecoverySettings(node, &unknownKeys) }
    if let node = try root.section("queues") { try Self.read(queues: node, into: &queue, &unknownKeys) }
    if let node = try root.section("adServices") { adServices = try AdServicesSettings(node, &unknownKeys) }
    if let node = try root.section("consentRouting") {
      if let strategies = try node.section("strategies") {
        for key in strategies.keys {
          let strategy = try strategies.required(key)
          // A strategy is either a list of domains, or a mapping with the domains and further settings.
          guard strategy.isMapping else {
            consentStrategies[key] = ConsentStrategySettings(domains: try strategy.texts(), isDataResidency: nil)
            continue
          }
          consentStrategies[key] = ConsentStrategySettings(
            domains: try strategy.required("domains").texts(), isDataResidency: try strategy["dataResidency"]?.bool())
          unknownKeys += strategy.unknownKeys(["domains", "dataResidency"])
        }
      }
      if let wait = node["maximumWait"] {
        let time = try wait.duration()
        guard time <= .seconds(360) else { throw ConfigurationError(wait.path, "must be at most 360s") }
        consentMaxWait = time
      }
      if let patience = node["patience"] {
        let time = try patience.duration()
        guard time >= .seconds(1), time <= .seconds(30 * 86_400) else {
          throw ConfigurationError(patience.path, "must be 1s to 30d")
        }
        consentPatience = time
      }
      consentRemovedFields = try node["removedFields"]?.texts() ?? []
      unknownKeys += node.unknownKeys(["strategies", "removedFields", "maximumWait", "patience"])
    }
    try Self.refuseDuplicates(adNetworks.map(\.id), in: "adNetworks", key: "id")
    try Self.refuseDuplicates(apps.map(\.bundleId), in: "apps", key: "bundleId")
    try Self.refuseDuplicates(clients.map(\.name), in: "clients", key: "name")
  }

  private static func refuseDuplicates(_ names: [String], in list: String, key: String) throws(ConfigurationError) {
    var seen: Set<String> = []
    for (index, name) in names.enumerated() where !seen.insert(name).inserted {
      throw ConfigurationError("\(list)[\(index)].\(key)", "occurs twice")
    }
  }

  private static func adNetwork(_ node: ConfigurationNode, _ resolved: (String) -> String, _ unknown: inout [UnknownKey])
    throws(ConfigurationError) -> AdNetwork
  {
    let id = try node.required("id")
    let name = try id.text()
    guard name == name.lowercased(), !name.isEmpty else {
      throw ConfigurationError(id.path, "must be an ad network id in lower case")
    }
    unknown += node.unknownKeys(["id", "keys"])
    var keys: [Key] = []
    for key in try node.required("keys").list() {
      let state = try key["state"]?.text() ?? "active"
      guard let state = Key.State(rawValue: state) else {
        throw ConfigurationError("\(key.path).state", "must be pending, active, retiring or revoked")
      }
      unknown += key.unknownKeys(["id", "path", "state", "created", "passphraseFile", "uri", "pinFile"])
      keys.append(
        Key(
          id: try key.required("id").text(), source: try keySource(key, "path", resolved), state: state,
          created: try key["created"]?.date(), place: key.path))
    }
    return AdNetwork(id: name, keys: keys)
  }

  /// The source of a private key: either the file that the key `file` of the mapping names, or the `uri` of a key in a PKCS#11 token.
  private static func keySource(_ node: ConfigurationNode, _ file: String, _ resolved: (String) -> String)
    throws(ConfigurationError) -> KeySource
  {
    func path(_ name: String) throws(ConfigurationError) -> String? {
      guard let node = node[name] else { return nil }
      return resolved(try node.text())
    }
    let passphraseFile = try path("passphraseFile")
    let pinFile = try path("pinFile")
    switch (try path(file), node["uri"]) {
    case (let path?, nil):
      guard pinFile == nil else { throw ConfigurationError("\(node.path).pinFile", "is only for a uri; a file has a passphraseFile") }
      return .file(path: path, passphraseFile: passphraseFile)
    case (nil, let uri?):
      guard passphraseFile == nil else {
        throw ConfigurationError("\(node.path).passphraseFile", "is only for a file; a uri has a pinFile")
      }
      let text = try uri.text()
      do throws(PKCS11URIError) { _ = try PKCS11URI(validating: text) } catch { throw ConfigurationError(uri.path, "\(error)") }
      return .token(uri: text, pinFile: pinFile)
    case (nil, nil): throw ConfigurationError("\(node.path).\(file)", "is missing; a key needs it or uri")
    case (_?, _?): throw ConfigurationError("\(node.path).uri", "must not be given together with \(file)")
    }
  }

  private static func appleKeys(_ node: ConfigurationNode) throws(ConfigurationError) -> AppleKeys? {
    func checked(_ node: ConfigurationNode, _ curve: Curve) throws(ConfigurationError) -> [String] {
      let texts = try node.texts()
      for text in texts {
        guard let der = Base64.decode(text), let key = try? PublicKey(subjectPublicKeyInfo: der), key.curve == curve
        else {
          throw ConfigurationError(
            node.path, "must be a SubjectPublicKeyInfo of \(curve == .p192 ? "P-192" : "P-256") in Base64")
        }
      }
      return texts
    }
    var kids: [String: [String]] = [:]
    if let node = node["kids"] {
      for kid in try node.mapping().keys { kids[kid] = try checked(try node.required(kid), .p256) }
    }
    let p192 = try node["p192"].map { node throws(ConfigurationError) in try checked(node, .p192) } ?? []
    let p256 = try node["p256"].map { node throws(ConfigurationError) in try checked(node, .p256) } ?? []
    // Without any key in the section, Apple's published keys are used.
    return p192.isEmpty && p256.isEmpty && kids.isEmpty ? nil : AppleKeys(p192: p192, p256: p256, kids: kids)
  }

  private static func app(_ node: ConfigurationNode, _ resolved: (String) -> String, _ unknown: inout [UnknownKey])
    throws(ConfigurationError) -> App
  {
    let environments = try node["environments"]?.texts() ?? ["Production", "Sandbox"]
    for environment in environments where !["Production", "Sandbox", "Xcode", "LocalTesting"].contains(environment) {
      throw ConfigurationError("\(node.path).environments", "must contain only Production, Sandbox, Xcode or LocalTesting")
    }
    let appAppleId = try node["appAppleId"]?.integer()
    if environments.contains("Production"), appAppleId == nil {
      throw ConfigurationError(
        "\(node.path).appAppleId", "is missing; data of production contains the app's Apple id, which is compared with it")
    }
    func key(_ key: ConfigurationNode, issuerId: String?) throws(ConfigurationError) -> AppStoreKey {
      AppStoreKey(
        issuerId: issuerId, keyId: try key.required("keyId").text(), source: try keySource(key, "privateKey", resolved),
        created: try key["created"]?.date(), place: key.path)
    }
    let appStoreServer = try node.section("appStoreServer").map { node throws(ConfigurationError) in
      unknown += node.unknownKeys(["issuerId", "keyId", "privateKey", "created", "passphraseFile", "uri", "pinFile", "otherKey"])
      return try key(node, issuerId: try node.required("issuerId").text())
    }
    // Otherwise a call that names no environment would go to production, where the app is not accepted.
    guard appStoreServer == nil || environments.contains(where: { $0 == "Production" || $0 == "Sandbox" }) else {
      throw ConfigurationError(
        "\(node.path).environments",
        "must contain Production or Sandbox, because appStoreServer is given and the other environments have no server")
    }
    let otherAppStoreServer = try node["appStoreServer"]?.section("otherKey").map { node throws(ConfigurationError) in
      unknown += node.unknownKeys(["keyId", "privateKey", "created", "passphraseFile", "uri", "pinFile"])
      let other = try key(node, issuerId: appStoreServer?.issuerId)
      guard other.keyId != appStoreServer?.keyId else {
        throw ConfigurationError("\(node.path).keyId", "is the keyId of appStoreServer; otherKey must be another key")
      }
      return other
    }
    let offers = try node.section("offers").map { node throws(ConfigurationError) in
      unknown += node.unknownKeys(["keyId", "privateKey", "issuerId", "created", "passphraseFile", "uri", "pinFile"])
      return try key(node, issuerId: try node["issuerId"]?.text())
    }
    unknown += node.unknownKeys([
      "bundleId", "appAppleId", "environments", "appStoreServer", "offers", "recovery", "consentRouting",
      "conversionValues", "acceptsDevelopmentPostbacks", "retention",
    ])
    var conversions: [ConversionSettings] = []
    for entry in try node["conversionValues"]?.list() ?? [] { conversions.append(try ConversionSettings(entry, &unknown)) }
    let acceptsDevelopmentPostbacks = try node["acceptsDevelopmentPostbacks"]?.bool() ?? false
    if acceptsDevelopmentPostbacks, appAppleId == nil {
      throw ConfigurationError("\(node.path).appAppleId", "is missing; postbacks name the app by it")
    }
    let retention = try node.section("retention").map { node throws(ConfigurationError) in
      try AppRetentionSettings(node, resolved, &unknown)
    }
    if retention != nil, appAppleId == nil {
      throw ConfigurationError("\(node.path).appAppleId", "is missing; requests for retention messages name the app by it")
    }
    return App(
      bundleId: try node.required("bundleId").text(), appAppleId: appAppleId, environments: environments,
      appStoreServer: appStoreServer, otherAppStoreServer: otherAppStoreServer, offers: offers,
      recovery: try recovery(node, hasKey: appStoreServer != nil, &unknown),
      consentStrategy: try node.section("consentRouting")?["strategy"]?.text() ?? "default", conversionValues: conversions,
      acceptsDevelopmentPostbacks: acceptsDevelopmentPostbacks,
      retention: retention)
  }

  private static func recovery(_ app: ConfigurationNode, hasKey: Bool, _ unknown: inout [UnknownKey])
    throws(ConfigurationError) -> Recovery?
  {
    var recovery = Recovery()
    guard let node = try app.section("recovery") else { return hasKey ? recovery : nil }
    unknown += node.unknownKeys(["schedule", "lookback", "outages"])
    if let schedule = node["schedule"] { recovery.schedule = schedule.plain == "never" ? nil : try schedule.duration() }
    if let lookback = node["lookback"] { recovery.lookback = try lookback.duration() }
    if let outages = node["outages"] { recovery.outages = try outages.bool() }
    return recovery
  }

  private static func client(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) -> Client {
    let digest = node["tokenSHA256"]
    let names = try node["certificateName"]?.texts() ?? []
    guard digest != nil || !names.isEmpty else {
      throw ConfigurationError("\(node.path).tokenSHA256", "is missing; a client needs it or certificateName")
    }
    for name in names where !name.contains(":") {
      throw ConfigurationError("\(node.path).certificateName", "must be a URI, such as spiffe://example.com/ad-server")
    }
    unknown += node.unknownKeys(["name", "tokenSHA256", "certificateName", "allow", "rate"])
    return Client(
      name: try node.required("name").text(), tokenDigests: try digest?.tokenDigests() ?? [], certificateNames: names,
      allow: try node.required("allow").texts(),
      rate: try node.section("rate").map { rate throws(ConfigurationError) in try RequestRate(rate, &unknown) })
  }
}
