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

  @Test(
    "what was added to a token on its way is removed, where only one reading is possible",
    arguments: [
      ("ab%2Bcd%3D%3D", "ab+cd=="), ("ab%2bc%2Fd%3d%3D", "ab+c/d=="), ("ab%252Bcd%253D%253D", "ab+cd=="), (#""ab+/cQ==""#, "ab+/cQ=="),
      ("'ab+/cQ=='", "ab+/cQ=="), (#" "ab+\/cQ==" "#, "ab+/cQ=="), (#""ab+/cQ==\n""#, "ab+/cQ=="), (#""\"ab+/cQ==\"""#, "ab+/cQ=="),
      ("ab+/\r\ncQ==\n", "ab+/cQ=="), ("ab+/\n  cQ==", "ab+/cQ=="), (#""ab%2B%2FcQ%3D%3D""#, "ab+/cQ=="), ("%22ab+/cQ==%22", "ab+/cQ=="),
      ("ab /cQ==", "ab+/cQ=="), ("a b cQ==", "a+b+cQ=="), ("ab%2B%2FcQ%3D%3D%0A", "ab+/cQ=="), (#"ab\u002B/cQ=="#, "ab+/cQ=="),
    ])
  func repaired(_ damaged: String, _ text: String) throws {
    let token = try AttributionToken(validating: damaged)
    #expect(token.text == text)
    #expect(token.key == (try AttributionToken(validating: text)).key)
    // The token is read again from the queue.
    #expect(try AttributionToken(validating: token.text) == token)
  }

  @Test(
    "a token that could be read in several ways is sent as it is",
    arguments: ["ab-_cd", "ab%zz", "100%", "a%20b", "ab%00", "a.b%2Bc", "not*base64", "ab\"cd", "%"])
  func unchanged(_ text: String) throws { #expect(try AttributionToken(validating: text).text == text) }

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
    let noTime: [Int64] = [
      // A clock that is ahead by minutes, and the year 2569 of the Buddhist calendar.
      now + 1, now + 300_000, now + 3_600_000, 18_926_179_200_000,
      // Years of other calendars, a clock that was reset, and the day before the first tokens.
      -61_882_790_400_000, -16_454_620_800_000, 0, 978_307_200_000, 1_607_903_999_999, .min, .max,
    ]
    for claimed in noTime { #expect(try TokenSubmission.creationTime(claimed: claimed, receivedAt: now) == now, "\(claimed)") }
    for claimed in [now - day - 1, 1_607_904_000_000] {
      #expect { try TokenSubmission.creationTime(claimed: claimed, receivedAt: now) } throws: {
        ($0 as? FieldError)?.field == "requestedAt"
      }
    }
  }
}
