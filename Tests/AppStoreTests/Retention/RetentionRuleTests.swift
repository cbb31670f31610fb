import TestSupport
import Testing
import WireJSON

@testable import AppStore

@Suite("Rules for retention messages")
struct RetentionRuleTests {
  private typealias Fixture = RetentionFixture

  private func applies(
    _ facts: RetentionFacts? = Fixture.facts(), _ request: JSONObject = [:], _ conditions: (inout RetentionConditions) throws -> Void
  ) throws -> Bool {
    let rules = RetentionRuleSet([try Fixture.rule("one", nil, conditions)])
    return rules.match(try Fixture.request(request), facts, at: Fixture.now).rule != nil
  }

  @Test("the first matching rule decides, and no match is no error")
  func first() throws {
    let rules = RetentionRuleSet([
      try Fixture.rule("other product") { $0.products = ["com.example.yearly"] }, try Fixture.rule("all"), try Fixture.rule("too late"),
    ])
    #expect(rules.match(try Fixture.request(), nil, at: Fixture.now).rule?.name == "all")
    #expect(RetentionRuleSet([]).match(try Fixture.request(), nil, at: Fixture.now) == .init(rule: nil, undecided: []))
  }

  @Test("each condition holds only for the values that it names")
  func conditions() throws {
    #expect(try applies { $0.products = ["com.example.monthly"] } && !applies { $0.products = ["com.example.MONTHLY"] })
    #expect(try applies { $0.environments = ["Sandbox"] } && !applies { $0.environments = ["Production"] })
    #expect(try applies { $0.groups = ["1", "21345678"] } && !applies { $0.groups = ["1"] })
    #expect(try applies { $0.storefronts = ["DEU"] } && !applies { $0.storefronts = ["USA"] })
    #expect(try applies { $0.states = [.active] } && !applies { $0.states = [.gracePeriod] })
    #expect(try applies { $0.locales = [LocaleTag("en")!] } && applies { $0.locales = [LocaleTag("de")!, LocaleTag("EN_us")!] })
    #expect(try !applies { $0.locales = [LocaleTag("en-GB")!] })
    #expect(try applies { $0.price = try .init(currency: "EUR", atLeast: 9.99, below: nil) })
    #expect(try !applies { $0.price = try .init(currency: "EUR", atLeast: nil, below: 9.99) })
    #expect(try !applies { $0.price = try .init(currency: "USD", atLeast: 0, below: nil) })
    let day: Int64 = 86_400_000
    #expect(try applies { $0.tenure = 100 * day..<101 * day } && !applies { $0.tenure = 101 * day..<Int64.max })
    // All conditions must hold.
    #expect(
      try !applies {
        $0.storefronts = ["DEU"]
        $0.states = [.expired]
      })
  }

  @Test("a condition on a value that the history does not contain does not hold")
  func silence() throws {
    let nothing = RetentionFacts(status: .active)
    #expect(try !applies(nothing) { $0.groups = ["1"] } && !applies(nothing) { $0.storefronts = ["DEU"] })
    #expect(
      try !applies(nothing) { $0.tenure = 0..<Int64.max }
        && !applies(nothing) { $0.price = try .init(currency: "EUR", atLeast: 0, below: nil) })
  }

  @Test("without the history a rule that needs it does not apply and is reported")
  func late() throws {
    let rules = RetentionRuleSet([
      try Fixture.rule("by state") { $0.states = [.active] },
      try Fixture.rule("by state, other product") {
        $0.states = [.active]
        $0.products = ["x"]
      },
      try Fixture.rule("all"),
    ])
    let match = rules.match(try Fixture.request(), nil, at: Fixture.now)
    #expect(match.rule?.name == "all" && match.undecided == ["by state"])
    #expect(rules.match(try Fixture.request(), Fixture.facts(), at: Fixture.now).rule?.name == "by state")
  }

  @Test("a price is matched by currency and limits, and a wrong one is named")
  func prices() throws {
    for (currency, low, high, field): (String?, Double?, Double?, String) in [
      ("eur", 1, nil, "price.currency"), (nil, 1, nil, "price.currency"), ("EURO", 1, nil, "price.currency"), ("EUR", nil, nil, "price"),
      ("EUR", 2, 2, "price.below"), ("EUR", -1, nil, "price.atLeast"), ("EUR", nil, .infinity, "price.below"),
    ] {
      do {
        _ = try RetentionConditions.PriceRange(currency: currency, atLeast: low, below: high)
        Issue.record("\(currency ?? "nil") \(field) was taken")
      } catch { #expect(error.field == field) }
    }
  }

  @Test("a message is chosen by the device's locale, by its language, or else the default one")
  func locales() throws {
    let choice = try RetentionMessageChoice(byLocale: ["en": Fixture.first, "en_GB": Fixture.second, "*": Fixture.third])
    for (locale, id) in [("en-US", Fixture.first), ("en-GB", Fixture.second), ("EN-gb-oed", Fixture.second), ("de", Fixture.third)] {
      #expect(choice.identifier(for: LocaleTag(locale)) == id, "\(locale)")
    }
    #expect(choice.identifier(for: nil) == Fixture.third)
    let german = try RetentionMessageChoice(byLocale: ["de": Fixture.first])
    #expect(german.identifier(for: LocaleTag("fr")) == nil && german.identifier(for: nil) == nil)
    #expect(try RetentionMessageChoice(message: Fixture.first.uppercased()).identifier(for: nil) == Fixture.first)
    for given in [[:], ["en": "x"], ["e n": Fixture.first], ["en": Fixture.first, "EN": Fixture.second]] {
      #expect(throws: RequestRefusal.self, "\(given)") { try RetentionMessageChoice(byLocale: given) }
    }
  }

  @Test("only approved messages are proposed")
  func approval() throws {
    let offer = try RetentionProposal.Offer(offerIdentifier: "stay")
    let rule = try Fixture.rule(
      "one",
      [
        RetentionOption(message: RetentionMessageChoice(message: Fixture.first), .promotionalOffer(offer)),
        RetentionOption(message: RetentionMessageChoice(byLocale: ["fr": Fixture.third]), .message),
        RetentionOption(message: RetentionMessageChoice(message: Fixture.second), .message),
      ])
    let request = try Fixture.request()
    let all = rule.proposals(for: request) { _, _ in true }
    #expect(all.usable.map(\.messageIdentifier) == [Fixture.first, Fixture.second] && all.unapproved.isEmpty)
    let some = rule.proposals(for: request) { id, _ in id == Fixture.second }
    #expect(some.usable.map(\.messageIdentifier) == [Fixture.second] && some.unapproved == [Fixture.first])
    #expect(rule.proposals(for: request) { _, _ in false }.usable.isEmpty)
    // Property: for any set of approved messages, no other message is proposed.
    var random = SeededRandom("retention approval")
    for _ in 0..<500 {
      let ids = (0..<6).map { "3f0c6b1a-0000-4000-8000-00000000000\($0)" }
      let approved = Set(ids.filter { _ in Bool.random(using: &random) })
      let options = try (0..<Int.random(in: 0...5, using: &random)).map { _ in
        try RetentionOption(
          message: Bool.random(using: &random)
            ? RetentionMessageChoice(message: ids.randomElement(using: &random)!)
            : RetentionMessageChoice(byLocale: ["en": ids.randomElement(using: &random)!, "*": ids.randomElement(using: &random)!]),
          .message)
      }
      let (usable, unapproved) = try Fixture.rule("r", options).proposals(for: request) { id, _ in approved.contains(id) }
      #expect(Set(usable.map(\.messageIdentifier)).isSubset(of: approved) && Set(unapproved).isDisjoint(with: approved))
    }
  }

  @Test("a message with an image is shown only by itself, and the list can be read back from its texts")
  func images() throws {
    let (plain, pictured, pending) = (Fixture.first, Fixture.second, Fixture.third)
    let list = RetentionMessageList(approved: [plain, pictured], withImage: [pictured, pending])
    let offer = RetentionProposal.Content.promotionalOffer(try RetentionProposal.Offer(offerIdentifier: "stay"))
    let other = RetentionProposal.Content.alternateProduct(productId: "yearly", billingPlanType: nil)
    for content in [.message, .advancedCommerce(request: "{}"), offer, other] as [RetentionProposal.Content] {
      #expect(list.shows(plain, in: content) && !list.shows(pending, in: content))
      #expect(list.shows(pictured, in: content) == (content == .message))
    }
    #expect(list.texts == [plain, pictured, "image:" + pictured] && RetentionMessageList(texts: list.texts) == list)
    #expect(RetentionMessageList(texts: [plain]) == RetentionMessageList(approved: [plain]))
  }

  @Test("an experiment selects the same customers every time, and about the configured share")
  func experiments() throws {
    // The buckets of customers are part of the contract with those who evaluate experiments: they must not change.
    #expect(ExperimentShare.bucket(of: "99371282", in: "spring") == Self.knownBucket)
    let half = try ExperimentShare(experiment: "spring", from: 0, to: 50)
    let rest = try ExperimentShare(experiment: "spring", from: 50, to: 100)
    var random = SeededRandom(seed: 26)
    var (inHalf, inBoth) = (0, 0)
    let other = try ExperimentShare(experiment: "summer", from: 0, to: 50)
    for _ in 0..<20_000 {
      let id = String(UInt64.random(in: .min ... .max, using: &random))
      #expect(half.contains(id) != rest.contains(id))
      if half.contains(id) { inHalf += 1 }
      if half.contains(id), other.contains(id) { inBoth += 1 }
    }
    // Four standard deviations.
    #expect((9717...10_283).contains(inHalf) && (4755...5245).contains(inBoth))
    for (from, to, field) in [
      (-1.0, 50.0, "experiment.from"), (0, 101, "experiment.to"), (50, 50, "experiment.to"), (0.001, 50, "experiment.from"),
      (.nan, 1, "experiment.from"),
    ] {
      do {
        _ = try ExperimentShare(experiment: "e", from: from, to: to)
        Issue.record("\(from) to \(to) was taken")
      } catch { #expect(error.field == field) }
    }
    #expect(try ExperimentShare(experiment: "e", from: 0, to: 0.29).range == 0..<29)
  }

  private static let knownBucket = 9116

  @Test("the same request and history match the same rule in any order")
  func pure() throws {
    var random = SeededRandom("retention rules")
    func some<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
    for _ in 0..<500 {
      let rules = RetentionRuleSet(
        try (0..<5).map { number in
          try Fixture.rule("\(number)") {
            $0.products = some(["com.example.monthly"])
            $0.states = some([SubscriptionStatus.allCases.randomElement(using: &random)!])
            $0.storefronts = some(["DEU"])
            $0.experiment = some(try ExperimentShare(experiment: "e", from: 0, to: 50))
          }
        })
      let request = try Fixture.request(["originalTransactionId": .string(String(Int.random(in: 0...Int.max, using: &random)))])
      let facts = Fixture.facts()
      let match = rules.match(request, facts, at: Fixture.now)
      #expect(rules.match(request, facts, at: Fixture.now) == match && match.undecided.isEmpty)
      // A rule that matches without the history also matches with it, unless an earlier rule does.
      let blind = rules.match(request, nil, at: Fixture.now)
      if let name = blind.rule?.name, match.rule?.name != name { #expect(blind.undecided.contains(match.rule?.name ?? "")) }
    }
  }
}
