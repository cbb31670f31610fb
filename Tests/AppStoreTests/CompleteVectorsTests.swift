import Foundation
import Testing

/// Every table of vectors is in a test: a new one that is in none fails here.
@Suite("Vectors are all in tests")
struct CompleteVectorsTests {
  /// The tables that are in tests, each under the name of its file.
  static let met: Set<String> = [
    "cases.json", "adservices.json", "api-errors.json", "att-routing.json", "notification-history.json", "signing.json", "lifecycle.json",
  ]

  @Test("there is no table that is in no test")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: AppStoreVectors.folder.path).filter { $0.hasSuffix(".json") }
    #expect(Set(files) == Self.met)
  }
}
