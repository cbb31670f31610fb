import AppleAttribution
import Testing
import WireJSON

@testable import ingest

@Suite("The strategy of a session")
struct SessionRoutingTests {
  private let routing = SessionRouting(
    table: .published, filter: .standard, strategies: ["resident": "ADJDataResidencyEU", "free": "default"])

  private func strategy(of bundleId: String, naming strategy: String?) throws -> String {
    var payload: JSONObject = ["bundleId": .string(bundleId), "installId": "i", "attStatus": 3]
    payload["urlStrategy"] = strategy.map { .string($0) }
    return try routing.strategy(for: try SessionSubmission(payload))
  }

  @Test(
    "a session cannot leave the region in which its app's data must stay",
    arguments: ["default", "ADJDataResidencyTR", "ADJDataResidencyUS", "ADJUrlStrategyIndia", "ADJDataResidencyXX"])
  func residency(_ other: String) throws {
    #expect { try strategy(of: "resident", naming: other) } throws: { ($0 as? FieldError)?.field == "urlStrategy" }
    #expect(try strategy(of: "resident", naming: nil) == "ADJDataResidencyEU")
    #expect(try strategy(of: "resident", naming: "ADJDataResidencyEU") == "ADJDataResidencyEU")
  }

  @Test("an app without a region follows the session, and an app that is not configured needs a strategy in the session")
  func others() throws {
    #expect(try strategy(of: "free", naming: "ADJDataResidencyEU") == "ADJDataResidencyEU")
    #expect(try strategy(of: "free", naming: nil) == "default")
    #expect(try strategy(of: "unknown", naming: "default") == "default")
    #expect { try strategy(of: "unknown", naming: nil) } throws: { ($0 as? FieldError)?.field == "bundleId" }
  }
}
