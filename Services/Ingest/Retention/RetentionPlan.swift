import AppStore
import Cryptography
import ServiceRuntime

/// How the requests for retention messages of one app are answered: by rules, and by a decision service of the user if one is configured.
/// It is made from the app's section `retention` of the configuration.
struct RetentionPlan: Sendable {
  /// A user's decision service.
  struct DecisionService: Sendable, Hashable {
    let url: String
    let token: String?
    let timeout: Duration
  }

  let app: KnownApp
  let rules: RetentionRuleSet
  let decisionService: DecisionService?

  /// Throws if a rule is invalid. The error names the rule's setting.
  init(_ app: KnownApp, _ settings: AppRetentionSettings) throws(ConfigurationError) {
    self.app = app
    rules = RetentionRuleSet(try settings.rules.map { rule throws(ConfigurationError) in try Self.rule(rule) })
    decisionService = try settings.decisionService.map { service throws(ConfigurationError) in
      var token: String?
      if let path = service.tokenFile {
        do throws(KeyFileError) { token = try PrivateFile.firstLine(path) } catch {
          throw ConfigurationError("\(service.place).tokenFile", error.text("file"))
        }
      }
      return DecisionService(url: service.url, token: token, timeout: service.timeout)
    }
    guard !app.environments.isDisjoint(with: ["Production", "Sandbox"]) else {
      throw ConfigurationError(settings.place, "needs an app with the environment Production or Sandbox; Apple sends requests only there")
    }
  }

  private static func rule(_ settings: AppRetentionSettings.Rule) throws(ConfigurationError) -> RetentionRule {
    let conditions = try located("\(settings.place).when") { () throws(RequestRefusal) in try Self.conditions(settings.conditions) }
    var options: [RetentionOption] = []
    for answer in settings.answers {
      options.append(try located(answer.place) { () throws(RequestRefusal) in try option(answer) })
    }
    return RetentionRule(name: settings.name, conditions: conditions, options: options)
  }

  private static func conditions(_ given: AppRetentionSettings.Conditions) throws(RequestRefusal) -> RetentionConditions {
    var conditions = RetentionConditions()
    for environment in given.environments ?? [] where !["Production", "Sandbox"].contains(environment) {
      throw RequestRefusal(field: "environments", "must contain only Production and Sandbox")
    }
    for storefront in given.storefronts ?? [] where storefront.utf8.count != 3 || !storefront.utf8.allSatisfy({ (65...90).contains($0) }) {
      throw RequestRefusal(field: "storefronts", "must contain only countries of ISO 3166-1 in three capital letters, such as DEU")
    }
    conditions.environments = given.environments.map(Set.init)
    conditions.products = given.products.map(Set.init)
    conditions.groups = given.groups.map(Set.init)
    conditions.storefronts = given.storefronts.map(Set.init)
    conditions.locales = try given.locales?.map { text throws(RequestRefusal) in
      guard let locale = LocaleTag(text) else {
        throw RequestRefusal(field: "locales", "must contain only locales such as en or en-US, not '\(text)'")
      }
      return locale
    }
    conditions.states = try given.states.map { names throws(RequestRefusal) in
      var states: Set<SubscriptionStatus> = []
      for name in names {
        guard let state = SubscriptionStatus(rawValue: name) else {
          throw RequestRefusal(
            field: "states", "must contain only \(SubscriptionStatus.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        states.insert(state)
      }
      return states
    }
    conditions.price = try given.price.map { price throws(RequestRefusal) in
      try RetentionConditions.PriceRange(currency: price.currency, atLeast: price.atLeast, below: price.below)
    }
    if given.tenureAtLeast != nil || given.tenureBelow != nil {
      let low = given.tenureAtLeast?.milliseconds ?? 0
      conditions.tenure = low..<max(low, given.tenureBelow?.milliseconds ?? .max)
    }
    conditions.experiment = try given.experiment.map { share throws(RequestRefusal) in
      try ExperimentShare(experiment: share.name, from: share.from, to: share.to)
    }
    return conditions
  }

  private static func option(_ answer: AppRetentionSettings.Answer) throws(RequestRefusal) -> RetentionOption {
    let message = try RetentionMessageChoice(message: answer.message.identifier, byLocale: answer.message.byLocale)
    let content: RetentionProposal.Content
    switch answer.kind {
    case .message: content = .message
    case .alternateProduct(let product, let plan): content = .alternateProduct(productId: product, billingPlanType: plan)
    case .promotionalOffer(let offer, let product, let signature, let token):
      content = .promotionalOffer(
        try RetentionProposal.Offer(offerIdentifier: offer, productId: product, version: signature, appAccountToken: token))
    case .advancedCommerce(let request):
      try AdvancedCommerceOffer.checkRule(request)
      content = .advancedCommerce(request: request)
    }
    return try RetentionOption(message: message, content)
  }

  /// A value that is made from a setting. An error names the setting.
  private static func located<Value>(_ place: String, _ make: () throws(RequestRefusal) -> Value) throws(ConfigurationError) -> Value {
    do throws(RequestRefusal) { return try make() } catch { throw ConfigurationError("\(place).\(error.field)", error.reason) }
  }
}
