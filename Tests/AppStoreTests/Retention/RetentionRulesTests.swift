import Cryptography
import Testing
import WireJSON

@testable import AppStore

@Suite("Rules of the Retention Messaging API")
struct RetentionRulesTests {
  /// A PNG file with a valid structure and no real pixels, which are not checked.
  static func png(_ width: UInt32, _ height: UInt32, colourType: UInt8 = 2, more: [[UInt8]] = []) -> [UInt8] {
    let header = bytes(width) + bytes(height) + [8, colourType, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + more.flatMap { $0 } + chunk("IDAT", [1, 2, 3])
      + chunk("IEND", [])
  }

  static func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

  static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
    let checked = Array(kind.utf8) + content
    var sum = UInt32.max
    for byte in checked {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xEDB8_8320 : sum >> 1 }
    }
    return bytes(UInt32(content.count)) + checked + bytes(~sum)
  }

  static func refusal(_ bytes: [UInt8], size: String? = nil) -> String? {
    do throws(RequestRefusal) {
      _ = try RetentionImageFile(base64: Base64.encode(bytes), size: size)
      return nil
    } catch { return error.description }
  }

  @Test(
    "sizes are Apple's, to the pixel",
    arguments: [
      (3840, 160, nil, true), (3840, 2160, "FULL_SIZE", true), (3840, 159, nil, false), (3840, 2161, nil, false), (3839, 160, nil, false),
      (3841, 160, nil, false), (1024, 1024, "BULLET_POINT", true), (1024, 1024, nil, false), (1024, 1023, "BULLET_POINT", false),
      (1025, 1024, "BULLET_POINT", false), (3840, 160, "BULLET_POINT", false),
    ] as [(UInt32, UInt32, String?, Bool)])
  func sizes(width: UInt32, height: UInt32, size: String?, isTaken: Bool) {
    #expect((Self.refusal(Self.png(width, height), size: size) == nil) == isTaken)
  }

  @Test("an alpha channel or transparent colours are refused", arguments: [0, 2, 3, 4, 6] as [UInt8])
  func transparency(colourType: UInt8) {
    #expect((Self.refusal(Self.png(3840, 160, colourType: colourType)) == nil) == (colourType < 4))
    #expect(Self.refusal(Self.png(3840, 160, colourType: colourType, more: [Self.chunk("tRNS", [0, 0])])) != nil)
  }

  @Test("a truncated or changed file, or one with bytes after its end, is refused")
  func broken() {
    let whole = Self.png(3840, 160, more: [Self.chunk("tEXt", Array("Comment".utf8))])
    #expect(Self.refusal(whole) == nil)
    for length in 0..<whole.count { #expect(Self.refusal(Array(whole.prefix(length))) != nil, "\(length)") }
    for place in whole.indices {
      var changed = whole
      changed[place] ^= 1
      #expect(Self.refusal(changed) != nil, "\(place)")
    }
    #expect(Self.refusal(whole + [0]) != nil)
    #expect(Self.refusal(Self.png(3840, 160) + Self.chunk("IEND", [])) != nil)
  }

  @Test("invalid Base64 and unknown sizes are refused with the field's name")
  func fields() {
    #expect(throws: RequestRefusal(field: "image", "must be base64")) { try RetentionImageFile(base64: "€", size: nil) }
    #expect(throws: RequestRefusal(field: "image", "is missing")) { try RetentionImageFile(base64: nil, size: nil) }
    #expect(throws: RequestRefusal(field: "imageSize", "must be FULL_SIZE or BULLET_POINT")) {
      try RetentionImageFile(base64: Base64.encode(Self.png(3840, 160)), size: "full")
    }
  }

  static let id = "0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01"

  static func field(_ body: JSONObject) -> String? {
    do throws(RequestRefusal) {
      _ = try RetentionMessageBody(body)
      return nil
    } catch { return error.field }
  }

  @Test(
    "texts may have exactly Apple's maximum length",
    arguments: [("header", 66, "header"), ("body", 144, "body"), ("altText", 150, "image.altText"), ("text", 66, "bulletPoints[0].text")])
  func lengths(name: String, maxLength: Int, field: String) {
    for (length, expected) in [(1, nil), (maxLength, nil), (maxLength + 1, field), (0, field)] as [(Int, String?)] {
      // Characters, not bytes.
      let text = JSONValue.string(String(repeating: "é", count: length))
      var body: JSONObject = ["header": "h", "body": "b", "image": ["imageIdentifier": .string(Self.id), "altText": "a"]]
      switch name {
      case "altText": body["image"] = ["imageIdentifier": .string(Self.id), "altText": text]
      case "text": body["bulletPoints"] = [["text": text, "imageIdentifier": .string(Self.id), "altText": "a"]]
      default: body[name] = text
      }
      #expect(Self.field(body) == expected, "\(name) of \(length)")
    }
  }

  @Test("there are at most five bullet points, and a header position requires an image")
  func structure() {
    let point: JSONValue = ["text": "t", "imageIdentifier": .string(Self.id), "altText": "a"]
    for (count, expected) in [(1, nil), (5, nil), (6, "bulletPoints"), (0, "bulletPoints")] as [(Int, String?)] {
      #expect(Self.field(["header": "h", "body": "b", "bulletPoints": .array(Array(repeating: point, count: count))]) == expected)
    }
    #expect(Self.field(["header": "h", "body": "b", "headerPosition": "ABOVE_BODY"]) == nil)
    #expect(Self.field(["header": "h", "body": "b", "headerPosition": "ABOVE_IMAGE"]) == "headerPosition")
    #expect(Self.field(["header": "h", "body": "b", "headerPosition": "BELOW"]) == "headerPosition")
    #expect(Self.field(["header": "h", "body": 1]) == "body")
    #expect(Self.field(["header": "h", "body": "b", "image": "i"]) == "image")
    #expect(Self.field(["header": "h", "body": "b", "image": ["altText": "a"]]) == "image.imageIdentifier")
    #expect(
      Self.field(["header": "h", "body": "b", "image": ["imageIdentifier": .string(Self.id), "altText": "a", "alt": "b"]]) == "image.alt")
  }

  @Test(
    "a URL is https and has at most 256 characters",
    arguments: [
      ("https://a", true), ("https://", false), ("http://a", false), ("HTTPS://a", false), ("https://a b", false),
      ("https://" + String(repeating: "a", count: 248), true), ("https://" + String(repeating: "a", count: 249), false),
    ])
  func urls(url: String, isTaken: Bool) {
    #expect(((try? RetentionParameterRules.url(url)) != nil) == isTaken)
  }

  @Test(
    "locales are short codes",
    arguments: [
      ("en", true), ("en-US", true), ("zh-Hans-CN", true), ("pt_BR", true), ("es-419", true), ("fil", true), ("e", false),
      ("english", false),
      ("en-", false), ("12", false), ("en-US/../x", false), ("", false),
    ])
  func locales(locale: String, isTaken: Bool) {
    #expect(((try? RetentionParameterRules.locale(locale)) != nil) == isTaken)
  }

  @Test("identifiers are UUIDs in upper or lower case")
  func identifiers() throws {
    #expect(try RetentionParameterRules.identifier(Self.id.uppercased(), "imageIdentifier") == Self.id)
    #expect(throws: RequestRefusal(field: "imageIdentifier", "must be a UUID")) {
      try RetentionParameterRules.identifier("a", "imageIdentifier")
    }
  }

  @Test("performance tests exist only in the sandbox")
  func sandbox() {
    for endpoint in [AppStoreServerEndpoint.startRetentionPerformanceTest, .getRetentionPerformanceTest] {
      #expect(endpoint.exists(on: .sandbox) && !endpoint.exists(on: .production))
    }
  }
}
