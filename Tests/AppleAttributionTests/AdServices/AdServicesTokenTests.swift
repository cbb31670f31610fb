import AppleAttribution
import Testing

@Suite("AdServices token")
struct AdServicesTokenTests {
  @Test("a token is trimmed and otherwise unchanged")
  func trimmed() throws {
    let token = try AttributionToken(validating: " \r\n\tab+/cQ==\n")
    #expect(token.text == "ab+/cQ==")
    #expect(token.isBase64)
    #expect(token.key == (try AttributionToken(validating: "ab+/cQ==")).key)
    #expect(token.key.count == 64)
    #expect(try !AttributionToken(validating: "not*base64").isBase64)
  }

  @Test("the key is the SHA-256 of the trimmed token")
  func key() throws {
    #expect(
      try AttributionToken(validating: "abc\n").key
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test(
    "empty, oversized and non-ASCII tokens are refused, naming the field",
    arguments: [
      "", " \n ", String(repeating: "a", count: 4097), "abc\u{e9}", "ab cd", "ab\u{0}cd",
    ])
  func refused(_ text: String) {
    #expect { try AttributionToken(validating: text) } throws: { ($0 as? FieldError)?.field == "token" }
  }

  @Test("a token has at most 4096 bytes, without the white space around it")
  func longest() throws {
    _ = try AttributionToken(validating: "\n" + String(repeating: "a", count: 4096) + "\n")
  }

  @Test("no description or dump of a token shows it")
  func hidden() throws {
    let token = try AttributionToken(validating: "c2VjcmV0")
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains("c2VjcmV0")) }
  }

  @Test("the creation time is that of the device within limits, or the time of receipt if there is none")
  func creationTime() throws {
    let now: Int64 = 1_790_000_000_000
    let day: Int64 = 86_400_000
    #expect(try TokenSubmission.creationTime(claimed: nil, receivedAt: now) == now)
    #expect(try TokenSubmission.creationTime(claimed: now - 5, receivedAt: now) == now - 5)
    #expect(try TokenSubmission.creationTime(claimed: now - day, receivedAt: now) == now - day)
    #expect(try TokenSubmission.creationTime(claimed: now + 300_000, receivedAt: now) == now)
    for claimed in [now - day - 1, now + 300_001, Int64.min, Int64.max] {
      #expect { try TokenSubmission.creationTime(claimed: claimed, receivedAt: now) } throws: {
        ($0 as? FieldError)?.field == "requestedAt"
      }
    }
  }
}
