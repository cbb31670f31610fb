import AppleAttribution
import Testing

@Suite("Consent routing")
struct ConsentRoutingTests {
  @Test("an unknown strategy is an error and never a fall-back", arguments: ["", "Default", "ADJDataResidencyXX"])
  func unknown(_ name: String) {
    #expect { try ConsentRoutingTable.published.route(strategy: name, consent: true) } throws: {
      ($0 as? FieldError)?.field == "urlStrategy"
    }
  }

  @Test("the published table has the domains of measurement partners, in the order of the attempts")
  func published() {
    let domains = ConsentRoutingTable.published.strategies.mapValues(\.domains)
    #expect(
      domains == [
        "default": ["adjust.com", "adjust.io"], "ADJDataResidencyEU": ["eu.adjust.com"], "ADJDataResidencyTR": ["tr.adjust.com"],
        "ADJDataResidencyUS": ["us.adjust.com"], "ADJUrlStrategyChina": ["adjust.world"], "ADJUrlStrategyCn": ["adjust.cn"],
        "ADJUrlStrategyCnOnly": ["adjust.cn"], "ADJUrlStrategyIndia": ["adjust.net.in"],
      ])
    let resident = ConsentRoutingTable.published.strategies.values.filter(\.isDataResidency).map(\.name)
    #expect(Set(resident) == ["ADJDataResidencyEU", "ADJDataResidencyTR", "ADJDataResidencyUS"])
  }

  @Test("a fall-back has the same strategy and the same consent")
  func fallBack() throws {
    let table = ConsentRoutingTable([
      ConsentStrategy(name: "x", domains: ["a.example", "b.example"], isDataResidency: true)
    ])
    #expect(try table.route(strategy: "x", consent: false).hosts == ["analytics.a.example", "analytics.b.example"])
    #expect(try table.route(strategy: "x", consent: true).hosts == ["consent.a.example", "consent.b.example"])
    #expect(try table.route(strategy: "x", consent: true).isDataResidency)
  }

  @Test("every residency strategy of the published table has only one region's domain")
  func residency() {
    for strategy in ConsentRoutingTable.published.strategies.values where strategy.isDataResidency {
      #expect(strategy.domains.count == 1)
    }
    #expect(ConsentRoutingTable.published.strategies.values.filter(\.isDataResidency).count == 3)
  }
}
