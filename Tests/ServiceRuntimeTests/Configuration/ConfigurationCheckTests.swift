import Foundation
import Testing
import Yams

@testable import ServiceRuntime

@Suite struct ConfigurationCheckTests {
  private func problems(_ yaml: String, _ check: (DeploymentConfiguration) throws(ConfigurationError) -> Void = { _ in }) throws
    -> [ConfigurationProblem]
  {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString).yaml").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(yaml.utf8).write(to: URL(fileURLWithPath: path))
    return ConfigurationCheck(path: path, check).problems
  }

  @Test(
    "a mistake is reported with its line and column",
    arguments: [
      ("queues:\n  lease: 0s\n", "queues.lease", 2, 10), ("apps:\n  - environments: [Sandbox]\n", "apps[0].bundleId", 2, 5),
      ("apps:\n  - bundleId: a\n    environments: [Sandbox]\n    appAppleId: x\n", "apps[0].appAppleId", 4, 17),
      ("a: [\n", "", 2, 1), ("a: 1\na: 2\n", "", 1, 1),
      ("clients:\n- { name: a, allow: [], rate: { perSecond: -1 }, certificateName: \"a:b\" }\n", "clients[0].rate.perSecond", 2, 44),
    ])
  func mistakes(yaml: String, place: String, line: Int, column: Int) throws {
    let problem = try #require(try problems(yaml).first { $0.level == .error })
    #expect(problem.place == place && problem.line == line && problem.column == column, "\(problem)")
  }

  @Test(
    "outside of development, natural keys and answers are remembered at least as long as their senders repeat",
    arguments: [
      ("", nil), ("deliveryGeneration: 9d", nil), ("deliveryGeneration: 215h", "queues.deliveryGeneration"),
      ("notificationGeneration: 180d", nil), ("notificationGeneration: 4319h", "queues.notificationGeneration"),
      ("rpcAnswerTTL: 1d", nil), ("rpcAnswerTTL: 86399s", "queues.rpcAnswerTTL"),
    ] as [(String, String?)])
  func generations(setting: String, place: String?) throws {
    for isDevelopment in [false, true] {
      let found = try problems("queues: { \(setting) }\n") { configuration throws(ConfigurationError) in
        try configuration.checkGenerations(development: isDevelopment)
      }
      #expect(found.map(\.place) == (isDevelopment ? [] : place.map { [$0] } ?? []), "\(found)")
    }
  }

  @Test("an unknown key causes a warning, with the most similar known key if there is one")
  func unknownKeys() throws {
    let found = try problems("queues:\n  leese: 30s\n  colour: red\nlimit: {}\n")
    #expect(found.map(\.level) == [.warning, .warning, .warning])
    #expect(
      Set(found.map { "\($0.place) \($0.line):\($0.column) \($0.suggestion ?? "-")" }) == [
        "queues.leese 2:3 lease", "queues.colour 3:3 -", "limit 4:1 limits",
      ])
    #expect(
      found.first { $0.place == "limit" }?.text(file: "f.yaml") == "f.yaml:4:1: warning: limit: unknown key; did you mean limits?"
    )
  }

  @Test("every mistake is reported with its position in the file, without mistakes that only follow from another")
  func allMistakes() throws {
    let found = try problems(
      """
      queues:
        lease: 0s
        leese: 1s
      limits:
        bodyBytes: -1
      apps:
        - { bundleId: 5, environments: [Sandbox] }
        - { bundleId: a, environments: [Sandbox], colour: red }
        - { bundleId: a, environments: [Sandbox] }
        - { bundleId: b, environments: [Elsewhere] }
        - { bundleId: c }
      push:
        allowedAddresses: [x, 127.0.0.1, y]
      edge: []
      """)
    #expect(
      Set(found.map { "\($0.line):\($0.column) \($0.level.rawValue) \($0.place)" }) == [
        "2:10 error queues.lease", "3:3 warning queues.leese", "5:14 error limits.bodyBytes", "7:17 error apps[0].bundleId",
        "8:45 warning apps[1].colour", "9:17 error apps[2].bundleId", "10:34 error apps[3].environments", "11:5 error apps[4].appAppleId",
        "13:22 error push.allowedAddresses[0]", "13:36 error push.allowedAddresses[2]", "14:7 error edge",
      ])
  }

  @Test(
    "a section that is a string, a number or a list is a mistake",
    arguments: [
      "adServices", "appleKeys", "appStore", "console", "consentRouting", "edge", "limits", "migrations", "pkcs11", "postbacks", "push",
      "queues", "recovery", "sourceIdentifiers", "traces",
    ])
  func wrongKind(section: String) throws {
    for value in ["5", "text", "[]"] {
      let found = try problems("\(section): \(value)\n")
      #expect(found.map(\.place) == [section] && found.allSatisfy { $0.level == .error && $0.line == 1 }, "\(found)")
    }
    #expect(try problems("\(section):\n").isEmpty)
  }

  @Test("a byte that is invalid in YAML is reported with its line and column")
  func controlCharacter() throws {
    let found = try problems("queues:\n  lease: \"ä\u{0}\"\n")
    #expect(found.map(\.line) == [2] && found.map(\.column) == [12], "\(found)")
  }

  @Test("mistakes for one service are reported together with those for all")
  func serviceCheck() throws {
    let found = try problems("queues: {}\nadServices:\n  timeout: 2s\nlimit: {}\n") { _ throws(ConfigurationError) in
      throw ConfigurationError("adServices.timeout", "is wrong")
    }
    #expect(found.map(\.line) == [3, 4])
  }

  @Test("a missing file and a file that is not UTF-8 are mistakes")
  func unreadable() { #expect(ConfigurationCheck(path: "/nonexistent/f.yaml").problems.first?.level == .error) }

  @Test("a position is found for keys with dots; for a missing key it is that of the enclosing element")
  func places() throws {
    let root = try #require(try Yams.compose(yaml: "sourceIdentifiers:\n  a.skadnetwork:\n    campaigns: {\"39\": spring}\n"))
    func place(_ text: String) -> String {
      let mark = ConfigurationCheck.mark(of: text, in: root)
      return "\(mark?.line ?? 0):\(mark?.column ?? 0)"
    }
    #expect(place("sourceIdentifiers.a.skadnetwork.campaigns") == "3:16")
    #expect(place("sourceIdentifiers.a.skadnetwork.campaigns.39") == "3:23")
    #expect(place("sourceIdentifiers.a.skadnetwork.other") == "2:3")
    #expect(place("nowhere") == "1:1")
  }

  @Test(
    "spelling suggestions differ in single letters",
    arguments: [("leese", "lease"), ("bundelId", "bundleId"), ("Limit", "limits"), ("xyz", nil), ("a", nil)] as [(String, String?)])
  func spelling(word: String, nearest: String?) {
    #expect(Spelling.nearest(to: word, among: ["lease", "bundleId", "limits", "name"]) == nearest)
  }
}
