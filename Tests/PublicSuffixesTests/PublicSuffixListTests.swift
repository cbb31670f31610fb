import Foundation
import Testing

@testable import PublicSuffixes

@Suite("Public suffixes")
struct PublicSuffixListTests {
  static let list = PublicSuffixList.builtIn

  @Test(
    "the registrable domain has one label more than the public suffix",
    arguments: [
      ("example.com", "example.com"), ("www.example.com", "example.com"), ("a.b.c.example.com", "example.com"),
      ("example.co.uk", "example.co.uk"), ("shop.example.co.uk", "example.co.uk"),
      // A wildcard rule, and an exception to it.
      ("a.b.c.kobe.jp", "b.c.kobe.jp"), ("b.c.kobe.jp", "b.c.kobe.jp"), ("city.kobe.jp", "city.kobe.jp"),
      ("www.city.kobe.jp", "city.kobe.jp"), ("a.x.ck", "a.x.ck"), ("www.ck", "www.ck"), ("a.www.ck", "www.ck"),
      // The private section: names that their owners give to others.
      ("someone.github.io", "someone.github.io"), ("a.someone.github.io", "someone.github.io"),
      // Names beyond ASCII, in their encoded form.
      ("xn--85x722f.xn--fiqs8s", "xn--85x722f.xn--fiqs8s"), ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
      // A top-level domain that is in no list.
      ("example.nosuchtld", "example.nosuchtld"), ("www.example.nosuchtld", "example.nosuchtld"),
    ])
  func registrable(host: String, domain: String) throws {
    let list = try #require(Self.list)
    #expect(list.registrableDomain(of: host) == domain)
    #expect(list.isRegistrable(host) == (host == domain))
  }

  @Test(
    "a public suffix has no registrable domain",
    arguments: ["com", "co.uk", "c.kobe.jp", "x.ck", "github.io", "xn--fiqs8s", "xn--55qx5d.cn", "nosuchtld"])
  func suffix(host: String) throws {
    let list = try #require(Self.list)
    #expect(list.registrableDomain(of: host) == nil)
    #expect(!list.isRegistrable(host))
  }

  @Test(
    "text that is no host name in lower case has no domain",
    arguments: [
      "", ".", "..", ".example.com", "example.com.", "com.", "example..com", "Example.com", "EXAMPLE.COM", "example.com:443", "食狮.中国",
      "exam ple.com", "example.com\u{0}", "example.com\n", "192.0.2.1", "2.1", "7", String(repeating: "a.", count: 130) + "com",
    ])
  func noName(host: String) throws {
    let list = try #require(Self.list)
    #expect(list.registrableDomain(of: host) == nil)
    #expect(!list.isRegistrable(host))
  }

  @Test("for any name, the result is the end of the name, and its own registrable domain")
  func property() throws {
    let list = try #require(Self.list)
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(state: seed)
    let labels = [
      "com", "uk", "co", "jp", "kobe", "ck", "www", "github", "io", "xn--fiqs8s", "a", "b", "example", "-", "x1", "city", "C", "",
    ]
    for _ in 0..<20_000 {
      let host = (0..<Int.random(in: 1...6, using: &random)).map { _ in labels.randomElement(using: &random)! }.joined(separator: ".")
      guard let domain = list.registrableDomain(of: host) else { continue }
      #expect(host == domain || host.hasSuffix("." + domain), "seed \(seed): \(host)")
      #expect(list.registrableDomain(of: domain) == domain, "seed \(seed): \(host)")
      #expect(list.registrableDomain(of: "more." + domain) == domain || list.isRegistrable("more." + domain), "seed \(seed): \(host)")
    }
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  @Test("a list from a file replaces the built-in one, and an invalid file is refused")
  func file() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("suffixes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ name: String, _ text: String) throws -> String {
      let path = folder.appendingPathComponent(name).path
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let newer = try #require(
      PublicSuffixList(path: try write("list.dat", "// a newer list\ncom\nnewhost.com\n\n*.wild.com\n!not.wild.com\n中国\n")))
    #expect(newer.registrableDomain(of: "a.b.newhost.com") == "b.newhost.com")
    #expect(newer.registrableDomain(of: "newhost.com") == nil)
    #expect(newer.registrableDomain(of: "a.b.wild.com") == "a.b.wild.com")
    #expect(newer.registrableDomain(of: "a.not.wild.com") == "not.wild.com")
    #expect(newer.registrableDomain(of: "a.xn--85x722f.xn--fiqs8s") == "xn--85x722f.xn--fiqs8s")
    #expect(PublicSuffixList(path: folder.appendingPathComponent("missing").path) == nil)
    #expect(PublicSuffixList(path: folder.path) == nil)
    #expect(PublicSuffixList(path: try write("empty", "")) == nil)
    #expect(PublicSuffixList(path: try write("other", "this is no list\n<html></html>\n")) == nil)
  }
}
