/// The section `retention`: how the App Store's requests for retention messages are answered, for all apps.
public struct RetentionSettings: Sendable, Hashable {
  /// Which messages count as approved before the approved ones are known.
  public enum UnknownMessages: String, Sendable, Hashable, CaseIterable {
    /// None, so the App Store shows its default message.
    case refuse
    /// All messages that the rules name.
    case trust
  }

  /// The longest time from a request's receipt to its answer.
  public var budget: Duration = .milliseconds(300)
  /// The timeout of a signature by signer.
  public var signerTimeout: Duration = .milliseconds(150)
  /// The timeout of reading a subscription's history from verifier.
  public var historyTimeout: Duration = .milliseconds(60)
  /// The timeout of Redis, after which the answer is sent without it.
  public var storeTimeout: Duration = .milliseconds(100)
  /// The greatest age of a signed request.
  public var maxAge: Duration = .seconds(300)
  /// How long the answer to a request is kept, as the answer to all its repetitions.
  public var answersKept: Duration = .seconds(86_400)
  /// The interval at which one instance asks notification-recovery for the approved messages of an app.
  public var messagesRefresh: Duration = .seconds(60)
  /// Which messages count as approved before the approved ones are known: `refuse` (none) or `trust` (all that the rules name).
  public var unknownMessages = UnknownMessages.refuse
  /// The greatest number of events that wait in memory while Redis is unavailable.
  public var pendingEvents = 10_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.time("budget", .milliseconds(50)...(.seconds(5)), &budget)
    try node.time("signerTimeout", .milliseconds(1)...(.seconds(5)), &signerTimeout)
    try node.time("historyTimeout", .milliseconds(1)...(.seconds(5)), &historyTimeout)
    try node.time("storeTimeout", .milliseconds(1)...(.seconds(5)), &storeTimeout)
    try node.time("maximumAge", .seconds(1)...(.seconds(86_400)), &maxAge)
    try node.time("answersKept", .seconds(1)...(.seconds(30 * 86_400)), &answersKept)
    try node.time("messagesRefresh", .milliseconds(100)...(.seconds(86_400)), &messagesRefresh)
    try node.count("pendingEvents", 0...1_000_000, &pendingEvents)
    if let value = node["unknownMessages"] {
      guard let known = UnknownMessages(rawValue: try value.text()) else { throw ConfigurationError(value.path, "must be refuse or trust") }
      unknownMessages = known
    }
    unknown += node.unknownKeys([
      "budget", "signerTimeout", "historyTimeout", "storeTimeout", "maximumAge", "answersKept", "messagesRefresh", "pendingEvents",
      "unknownMessages",
    ])
  }
}

/// The section `apps[].retention`, parsed but not validated. Its rules are in ingest's `RetentionPlan.swift`.
public struct AppRetentionSettings: Sendable, Hashable {
  /// A decision service: a server of the user that chooses the message. If it fails or is late, the rules choose.
  public struct DecisionService: Sendable, Hashable {
    public let url: String
    public let timeout: Duration
    /// The file with the bearer token for calls; nil if they need none.
    public let tokenFile: String?
    public let place: String
  }

  public struct Experiment: Sendable, Hashable {
    public let name: String
    /// The experiment applies to the customers from the percentage `from` up to, but not including, the percentage `to`.
    public let from: Double
    public let to: Double
  }

  public struct Price: Sendable, Hashable {
    public let currency: String
    public let atLeast: Double?
    public let below: Double?
  }

  /// The conditions of a rule, all of which must be true. Nil stands for a condition that is not set.
  public struct Conditions: Sendable, Hashable {
    public var environments: [String]?
    public var products: [String]?
    public var groups: [String]?
    public var locales: [String]?
    public var storefronts: [String]?
    public var states: [String]?
    public var price: Price?
    public var tenureAtLeast: Duration?
    public var tenureBelow: Duration?
    public var experiment: Experiment?
  }

  /// A message's identifier: one for all locales, or one for each locale.
  public struct Message: Sendable, Hashable {
    public let identifier: String?
    public let byLocale: [String: String]
  }

  public struct Answer: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
      case message
      case alternateProduct(productId: String, billingPlanType: String?)
      case promotionalOffer(offerIdentifier: String, productId: String?, signature: String?, appAccountToken: String?)
      case advancedCommerce(request: String)
    }

    public let message: Message
    public let kind: Kind
    public let place: String
  }

  public struct Rule: Sendable, Hashable {
    public let name: String
    public let conditions: Conditions
    public let answers: [Answer]
    public let place: String
  }

  public let rules: [Rule]
  public let decisionService: DecisionService?
  public let place: String
}

extension AppRetentionSettings {
  init(_ node: ConfigurationNode, _ resolved: (String) -> String, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    unknown += node.unknownKeys(["rules", "decisionService"])
    place = node.path
    var rules: [Rule] = []
    for entry in try node["rules"]?.list() ?? [] { rules.append(try Self.rule(entry, &unknown)) }
    var names: Set<String> = []
    for rule in rules where !names.insert(rule.name).inserted { throw ConfigurationError("\(rule.place).name", "occurs twice") }
    self.rules = rules
    decisionService = try node["decisionService"].map { node throws(ConfigurationError) in
      unknown += node.unknownKeys(["url", "timeout", "tokenFile"])
      let url = try node.required("url")
      let text = try url.text()
      guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
        throw ConfigurationError(url.path, "must be an http or https URL")
      }
      var timeout: Duration = .milliseconds(150)
      try node.time("timeout", .milliseconds(1)...(.seconds(5)), &timeout)
      return DecisionService(
        url: text, timeout: timeout, tokenFile: try node["tokenFile"].map { file throws(ConfigurationError) in resolved(try file.text()) },
        place: node.path)
    }
  }

  private static func rule(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) -> Rule {
    unknown += node.unknownKeys(["name", "when", "answers"])
    var answers: [Answer] = []
    for entry in try node.required("answers").list() { answers.append(try answer(entry, &unknown)) }
    return Rule(
      name: try node.required("name").text(),
      conditions: try node["when"].map { when throws(ConfigurationError) in try conditions(try when.mapping(), &unknown) } ?? Conditions(),
      answers: answers, place: node.path)
  }

  private static func conditions(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) -> Conditions {
    unknown += node.unknownKeys([
      "environments", "products", "groups", "locales", "storefronts", "states", "price", "tenure", "experiment",
    ])
    func list(_ name: String) throws(ConfigurationError) -> [String]? {
      guard let child = node[name] else { return nil }
      let texts = try child.texts()
      guard !texts.isEmpty else {
        throw ConfigurationError(child.path, "must have at least one element; with an empty list the rule never applies")
      }
      return texts
    }
    var conditions = Conditions()
    conditions.environments = try list("environments")
    conditions.products = try list("products")
    conditions.groups = try list("groups")
    conditions.locales = try list("locales")
    conditions.storefronts = try list("storefronts")
    conditions.states = try list("states")
    if let price = node["price"] {
      unknown += price.unknownKeys(["currency", "atLeast", "below"])
      conditions.price = Price(
        currency: try price.required("currency").text(), atLeast: try price["atLeast"]?.number(), below: try price["below"]?.number())
    }
    if let tenure = node["tenure"] {
      unknown += tenure.unknownKeys(["atLeast", "below"])
      conditions.tenureAtLeast = try tenure["atLeast"]?.duration()
      conditions.tenureBelow = try tenure["below"]?.duration()
      // Without `below`, any tenure is below.
      guard (conditions.tenureAtLeast ?? .zero) < (conditions.tenureBelow ?? .seconds(Int64.max / 1_000_000)) else {
        throw ConfigurationError("\(tenure.path).below", "must be more than atLeast")
      }
      guard conditions.tenureAtLeast != nil || conditions.tenureBelow != nil else {
        throw ConfigurationError(tenure.path, "needs atLeast or below")
      }
    }
    if let experiment = node["experiment"] {
      unknown += experiment.unknownKeys(["name", "from", "to"])
      conditions.experiment = Experiment(
        name: try experiment.required("name").text(), from: try experiment["from"]?.number() ?? 0, to: try experiment["to"]?.number() ?? 100
      )
    }
    return conditions
  }

  private static func answer(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) -> Answer {
    let kinds = ["message", "alternateProduct", "promotionalOffer", "advancedCommerce"]
    unknown += node.unknownKeys(Set(kinds))
    let given = kinds.filter { node[$0] != nil }
    guard given.count == 1, let kind = given.first, let child = node[kind] else {
      throw ConfigurationError(node.path, "must be one of \(kinds.joined(separator: ", "))")
    }
    switch kind {
    case "message": return Answer(message: try message(child), kind: .message, place: node.path)
    case "alternateProduct":
      unknown += child.unknownKeys(["message", "product", "billingPlanType"])
      return Answer(
        message: try message(try child.required("message")),
        kind: .alternateProduct(productId: try child.required("product").text(), billingPlanType: try child["billingPlanType"]?.text()),
        place: child.path)
    case "promotionalOffer":
      unknown += child.unknownKeys(["message", "offer", "product", "signature", "appAccountToken"])
      return Answer(
        message: try message(try child.required("message")),
        kind: .promotionalOffer(
          offerIdentifier: try child.required("offer").text(), productId: try child["product"]?.text(),
          signature: try child["signature"]?.text(), appAccountToken: try child["appAccountToken"]?.text()),
        place: child.path)
    default:
      unknown += child.unknownKeys(["message", "request"])
      return Answer(
        message: try message(try child.required("message")), kind: .advancedCommerce(request: try child.required("request").text()),
        place: child.path)
    }
  }

  private static func message(_ node: ConfigurationNode) throws(ConfigurationError) -> Message {
    guard node.isMapping else { return Message(identifier: try node.text(), byLocale: [:]) }
    var byLocale: [String: String] = [:]
    for key in node.keys { byLocale[key] = try node.required(key).text() }
    // A quoted and an unquoted key may have the same text, and keys may be lists or mappings.
    guard byLocale.count == node.size else {
      throw ConfigurationError(node.path, "must have locales as keys, each once; a key such as no needs quotes")
    }
    return Message(identifier: nil, byLocale: byLocale)
  }
}
