import Foundation
import Testing

/// Every vector file is used by a test, so that a new file cannot be forgotten.
@Suite("Completeness of the vectors")
struct CompleteVectorsTests {
  /// The names of the vector files that tests use.
  static let met: Set<String> = [
    "cases.json", "adservices.json", "api-errors.json", "att-routing.json", "notification-history.json", "signing.json", "lifecycle.json",
  ]

  @Test("every vector file is used by a test")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: AppStoreVectors.folder.path).filter { $0.hasSuffix(".json") }
    #expect(Set(files) == Self.met)
  }
}
