import Testing

@testable import ServiceRuntime

@Suite("Limits") struct LimitsTests {
  private func limits(_ yaml: String) throws -> Limits {
    var unknown: [UnknownKey] = []
    return try Limits(try ConfigurationNode(yaml: yaml, file: "file"), &unknown)
  }

  @Test("the maximum depth of JSON is the number of bits in the reader's mask")
  func depth() throws {
    let deepest = try limits("{ jsonDepth: 64 }").jsonDepth
    #expect(deepest == 64)
    #expect { try limits("{ jsonDepth: 65 }") } throws: { ($0 as? ConfigurationError)?.place == "jsonDepth" }
    #expect { try limits("{ jsonDepth: 0 }") } throws: { ($0 as? ConfigurationError)?.place == "jsonDepth" }
  }
}
