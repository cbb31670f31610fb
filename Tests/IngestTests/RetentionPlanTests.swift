import AppStore
import Foundation
import ServiceRuntime
import Testing

@testable import ingest

@Suite struct RetentionPlanTests {
  private static let id = "3f0c6b1a-0000-4000-8000-000000000001"
  /// A request for one customer, which no rule may contain.
  private static let modification =
    #"{"operation": "MODIFY_SUBSCRIPTION", "version": "1", "retainBillingCycle": true, "transactionId": "1", "changeItems": [{"#
    + #""currentSKU": "a", "SKU": "b", "displayName": "B", "description": "B", "effective": "IMMEDIATELY", "reason": "UPGRADE", "price": 1}]}"#

  private func check(_ retention: String) throws -> DeploymentConfiguration {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("retention-\(UUID().uuidString).yaml")
    let text = "apps:\n  - bundleId: com.example.app\n    appAppleId: 1\n    retention: \(retention)\n"
    try text.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let configuration = try DeploymentConfiguration.load(path: file.path)
    try LiveRetention.check(configuration)
    return configuration
  }

  @Test func `Rules are parsed`() throws {
    let configuration = try check(
      """
      { rules: [ { name: loyal,
        when: { environments: [Sandbox], products: a, groups: ["1"], locales: [en, de-DE], storefronts: [DEU], states: [active],
                price: { currency: EUR, atLeast: 1.5 }, tenure: { atLeast: 30d, below: 365d }, experiment: { name: e, to: 12.5 } },
        answers: [ { promotionalOffer: { message: { en: \(Self.id), "*": \(Self.id) }, offer: stay, product: b, signature: V1 } },
                   { alternateProduct: { message: \(Self.id), product: y, billingPlanType: MONTHLY } }, { message: \(Self.id) } ] },
        { name: rest, answers: [] } ] }
      """)
    #expect(configuration.unknownKeys.isEmpty)
    let plan = try RetentionPlan(
      KnownApp(bundleId: "com.example.app", appAppleId: 1, environments: ["Sandbox"]), try #require(configuration.apps[0].retention))
    let rule = plan.rules.rules[0]
    #expect(rule.conditions.experiment?.range == 0..<1250 && rule.conditions.price?.range == 1500..<Int64.max)
    #expect(rule.conditions.tenure == 30 * 86_400_000..<365 * 86_400_000 && rule.options.count == 3)
    #expect(plan.rules.rules[1].options.isEmpty)
  }

  @Test(arguments: [
    ("{ rules: [ { answers: [] } ] }", "apps[0].retention.rules[0].name"),
    ("{ rules: [ { name: a } ] }", "apps[0].retention.rules[0].answers"),
    ("{ rules: [ { name: a, answers: [] }, { name: a, answers: [] } ] }", "apps[0].retention.rules[1].name"),
    ("{ rules: [ { name: a, answers: [ { message: x } ] } ] }", "apps[0].retention.rules[0].answers[0].message"),
    ("{ rules: [ { name: a, answers: [ {} ] } ] }", "apps[0].retention.rules[0].answers[0]"),
    (
      "{ rules: [ { name: a, answers: [ { promotionalOffer: { message: \(id) } } ] } ] }",
      "apps[0].retention.rules[0].answers[0].promotionalOffer.offer"
    ),
    (
      "{ rules: [ { name: a, answers: [ { promotionalOffer: { message: \(id), offer: o, signature: V3 } } ] } ] }",
      "apps[0].retention.rules[0].answers[0].promotionalOffer.signatureVersion"
    ),
    (
      "{ rules: [ { name: a, answers: [ { alternateProduct: { message: \(id), product: p, billingPlanType: x } } ] } ] }",
      "apps[0].retention.rules[0].answers[0].alternateProduct.billingPlanType"
    ),
    (
      "{ rules: [ { name: a, answers: [ { advancedCommerce: { message: \(id), request: \"{}\" } } ] } ] }",
      "apps[0].retention.rules[0].answers[0].advancedCommerce.request.operation"
    ),
    (
      "{ rules: [ { name: a, answers: [ { advancedCommerce: { message: \(id), request: '\(modification)' } } ] } ] }",
      "apps[0].retention.rules[0].answers[0].advancedCommerce.request.transactionId"
    ),
    ("{ rules: [ { name: a, answers: [], when: { states: [asleep] } } ] }", "apps[0].retention.rules[0].when.states"),
    ("{ rules: [ { name: a, answers: [], when: { storefronts: [de] } } ] }", "apps[0].retention.rules[0].when.storefronts"),
    ("{ rules: [ { name: a, answers: [], when: { locales: [\"e n\"] } } ] }", "apps[0].retention.rules[0].when.locales"),
    ("{ rules: [ { name: a, answers: [], when: { products: [] } } ] }", "apps[0].retention.rules[0].when.products"),
    (
      "{ rules: [ { name: a, answers: [], when: { tenure: { atLeast: 2d, below: 1d } } } ] }",
      "apps[0].retention.rules[0].when.tenure.below"
    ),
    (
      "{ rules: [ { name: a, answers: [], when: { experiment: { name: e, to: 101 } } } ] }", "apps[0].retention.rules[0].when.experiment.to"
    ),
    ("{ rules: [ { name: a, answers: [], when: { price: { currency: EUR } } } ] }", "apps[0].retention.rules[0].when.price"),
    ("{ rules: [], decisionService: { url: ftp://x } }", "apps[0].retention.decisionService.url"),
    ("{ rules: [], decisionService: { url: http://x, tokenFile: /nowhere } }", "apps[0].retention.decisionService.tokenFile"),
  ])
  func `An invalid rule is refused with its position`(yaml: String, place: String) {
    do {
      _ = try check(yaml)
      Issue.record("\(yaml) was taken")
    } catch {
      #expect((error as? ConfigurationError)?.place == place)
    }
  }

  @Test func `An unknown key is reported`() throws {
    let keys = try check("{ rules: [ { name: a, anwers: [], answers: [], when: { product: x } } ], rule: 1 }").unknownKeys.map(\.path)
    #expect(Set(keys) == ["apps[0].retention.rules[0].anwers", "apps[0].retention.rules[0].when.product", "apps[0].retention.rule"])
  }
}
