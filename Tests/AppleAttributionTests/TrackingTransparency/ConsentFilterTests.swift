@testable import AppleAttribution
import TestSupport
import Testing
import WireJSON

@Suite("Consent filter")
struct ConsentFilterTests {
  static let idfa = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"

  func filter(_ text: String, consent: Bool = false) throws -> ConsentFilter.Filtered {
    ConsentFilter().filter(try #require(try JSONValue(parsing: text).objectValue), consent: consent)
  }

  @Test("with consent the payload is sent unchanged")
  func whole() throws {
    let text = #"{"idfa":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","started_at":1,"n":12345678901234567890}"#
    #expect(JSONValue.object(try filter(text, consent: true).payload).serializedString == text)
  }

  @Test(
    "fields are removed at any depth and in any spelling of the name",
    arguments: [
      "idfa", "IDFA", "Idfa", "started_at", "STARTED_AT", "startedAt", "clickDate", "click_date", "impressionDate",
    ])
  func names(_ name: String) throws {
    let result = try filter(#"{"a":[{"b":{"\#(name)":"x","keep":1}}],"\#(name)":{"c":2},"keep":true}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"a":[{"b":{"keep":1}}],"keep":true}"#)
    #expect(result.removedNames == [name])
  }

  @Test(
    "an identifier is removed everywhere and in every notation",
    arguments: [
      "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
      "6F9619FF8B86D011B42D00CF4FC964FF",
      "{6f9619ff-8b86-d011-b42d-00cf4fc964ff}", "https://x.example/?id=6f9619ff-8b86-d011-b42d-00cf4fc964ff&a=1",
      "6F9619FF%2D8B86%2DD011%2DB42D%2D00CF4FC964FF", "6F9619FF%252D8B86%252DD011%252DB42D%252D00CF4FC964FF",
      #"{\"x\":\"6F9619FF-8B86-D011-B42D-00CF4FC964FF\"}"#, #"{\"x\":\"\\u0036F9619FF-8B86-D011-B42D-00CF4FC964FF\"}"#,
      #"\u0036F9619FF-8B86-D011-B42D-00CF4FC964FF"#, #"{\"idfa\":\"another\"}"#,
    ])
  func values(_ written: String) throws {
    let result = try filter(
      #"{"idfa":"\#(Self.idfa)","custom":{"p":"\#(written)","q":"kept","list":["\#(written)","kept"]},"p2":"\#(written)"}"#
    )
    #expect(
      JSONValue.object(result.payload).serializedString == #"{"custom":{"q":"kept","list":["kept"]}}"#)
    #expect(!result.removedNames.joined().contains("9619"))
  }

  @Test(
    "a text that names an identifying field is removed, even if it is not valid JSON",
    arguments: [
      #"{\"idfa\":\"E\",\"a\":1,\"a\":2}"#, String(repeating: "[", count: 40) + #"{\"idfa\":\"E\"}"#,
      #"{\"idfa\":\"E\"};"#, #"json:{\"idfa\":\"E\"}"#, #"json:{'IDFA' : 'E'}"#, "https://x.example/cb?idfa=E",
      "https://x.example/cb?i%64fa%3DE",
      #"{\"\\u0069dfa\":\"E\",}"#, "p[idfa]=E", "<idfa>E</idfa>", "Started-At = 5", #"{\\\"started_at\\\":5}"#,
    ])
  func saysField(_ written: String) throws {
    let result = try filter(#"{"partner":"\#(written)","deep":[{"partner":"\#(written)"}],"keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"deep":[{}],"keep":1}"#)
  }

  @Test("a text that only mentions a name is kept", arguments: ["the idfa is not here", "idfax=1", "unidfa: 2", "restarted_at=1", "idfa"])
  func mentions(_ written: String) throws {
    let text = #"{"note":"\#(written)"}"#
    #expect(JSONValue.object(try filter(text).payload).serializedString == text)
  }

  /// A separate search for each position would take minutes.
  @Test("crafted input takes time proportional to its size")
  func size() throws {
    let long = try filter(#"{"idfa":"\#(String(repeating: "a", count: 80_000))","note":"\#(String(repeating: "a", count: 160_000))%"}"#)
    #expect(long.removedNames == ["idfa"])
    let edge = try filter(
      #"{"idfa":"\#(String(repeating: "a", count: 64))","note":"\#(String(repeating: "a", count: 63) + "b" + String(repeating: "ab", count: 80_000))"}"#
    )
    #expect(edge.removedNames == ["idfa"])
    let many = (0..<4000).map { #"{"idfa":"\#("0123456789abcdef\($0)")","c\#($0)":"x0123456789abcdef\#($0)","d":"short"}"# }.joined(
      separator: ",")
    let result = try filter(#"{"list":[\#(many)]}"#)
    let out = JSONValue.object(result.payload).serializedString
    #expect(!out.contains("0123456789abcdef"))
    #expect(out.contains("short"))
  }

  @Test(
    "up to sixteen identifiers are searched within texts; with more, every text that could contain one is removed", arguments: [16, 17])
  func many(_ count: Int) throws {
    let list = (0..<count).map { #""0123456789abcde\#(100 + $0)""# }.joined(separator: ",")
    let result = try filter(#"{"idfa":[\#(list)],"copy":"x0123456789abcde100x","other":"nothing of the kind here","short":"kept"}"#)
    #expect(
      JSONValue.object(result.payload).serializedString
        == (count == 16 ? #"{"other":"nothing of the kind here","short":"kept"}"# : #"{"short":"kept"}"#))
  }

  @Test("a name that equals the identifier is removed and not reported")
  func nameIsValue() throws {
    let result = try filter(#"{"idfa":"\#(Self.idfa)","m":{"\#(Self.idfa.lowercased())":1,"k":2}}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"m":{"k":2}}"#)
    #expect(!result.removedNames.joined().contains("9619"))
  }

  @Test("identifiers within objects and lists are found too")
  func structured() throws {
    let result = try filter(#"{"IDFA":{"value":["\#(Self.idfa)"]},"copy":"x\#(Self.idfa)x","keep":0}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"keep":0}"#)
  }

  @Test("a value that is too short for an identifier removes only equal values")
  func short() throws {
    let result = try filter(#"{"idfa":"1","a":1,"b":"1","c":"21","d":[1,2]}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"c":"21","d":[2]}"#)
  }

  @Test("names and identifiers of a deployment are added to the standard ones")
  func additional() {
    let filter = ConsentFilter(additionalNames: ["email"], additionalIdentifiers: ["gps_adid"])
    let payload: JSONObject = [
      "gps_adid": "0123456789abcdef0123", "E-Mail": "x", "idfa": "y", "copy": "0123456789ABCDEF0123", "keep": 1,
    ]
    #expect(filter.filter(payload, consent: false).payload == ["keep": 1])
  }

  @Test("a fragment is found exactly where it occurs")
  func fragments() {
    var random = SeededRandom("fragments")
    for _ in 0..<5000 {
      let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random) }
      let part = (0..<Int.random(in: 1...6, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random) }
      let stands = text.count >= part.count && (0...text.count - part.count).contains { Array(text[$0..<$0 + part.count]) == part }
      #expect(BytePattern(part).occurs(in: text) == stands, "\(part) in \(text)")
    }
  }

  @Test("an identifier of zeros is ignored")
  func zeros() {
    #expect(ConsentFilter.isAbsentIdentifier("00000000-0000-0000-0000-000000000000"))
    #expect(!ConsentFilter.isAbsentIdentifier(Self.idfa))
    for text in ["", "0", "00000000-0000-0000-0000-00000000000"] { #expect(!ConsentFilter.isAbsentIdentifier(text)) }
  }

  @Test("an identifier of zeros is removed even with consent, and nothing else is")
  func zerosWithConsent() throws {
    let zeros = "00000000-0000-0000-0000-000000000000"
    let text = #"{"IDFA":"\#(zeros)","a":[{"idfa":"\#(zeros)","b":1}],"other":"\#(zeros)","started_at":"2026"}"#
    let kept = try filter(text, consent: true).payload
    #expect(JSONValue.object(kept).serializedString == #"{"a":[{"b":1}],"other":"\#(zeros)","started_at":"2026"}"#)
  }

  @Test("without consent, no byte sequence of the identifier is left")
  func property() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededRandom(seed: seed)
    for _ in 0..<1500 {
      let identifier = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      let text = Self.uuid(identifier)
      var payload = random.object(depth: 4, identifier: text)
      payload[["idfa", "IDFA", "Idfa"].randomElement(using: &random)!] = .string(random.spelling(of: text))
      let filtered = ConsentFilter().filter(payload, consent: false).payload
      let out = JSONValue.object(filtered).serializedString.lowercased()
      let bare = text.replacing("-", with: "").lowercased()
      #expect(!out.contains(text.lowercased()) && !out.contains(bare), "seed \(seed)")
      #expect(!out.replacing("%2d", with: "").replacing("-", with: "").contains(bare), "seed \(seed)")
      #expect(!out.contains("idfa") && !out.contains("started"), "seed \(seed)")
      #expect(ConsentFilter().filter(filtered, consent: false).payload == filtered, "seed \(seed)")
      #expect(ConsentFilter().filter(payload, consent: true).payload == payload, "seed \(seed)")
    }
  }

  static func uuid(_ bytes: [UInt8]) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return text.uppercased()
  }
}

/// Random payloads that contain an identifier. The printed seed reproduces them.
extension SeededRandom {
  fileprivate mutating func spelling(of text: String) -> String {
    switch next() % 5 {
    case 0: text
    case 1: text.lowercased()
    case 2: text.replacing("-", with: "")
    case 3: String(text.map { next() % 2 == 0 ? Character($0.lowercased()) : $0 })
    default: text.replacing("-", with: "%2D")
    }
  }

  mutating func object(depth: Int, identifier: String) -> JSONObject {
    var object = JSONObject()
    for index in 0..<Int(next() % 5) {
      let names = ["a", "custom", "idfa", "IDFA", "started_at", "StartedAt", "event", spelling(of: identifier)]
      object["\(names[Int(next() % UInt64(names.count))])"] = value(depth: depth, identifier: identifier)
      object["n\(index)"] = value(depth: depth, identifier: identifier)
    }
    return object
  }

  mutating func value(depth: Int, identifier: String) -> JSONValue {
    switch next() % (depth == 0 ? 5 : 7) {
    case 0: return .string(spelling(of: identifier))
    case 1: return .string("prefix " + spelling(of: identifier) + " suffix")
    case 2: return .integer(Int64.random(in: .min ... .max, using: &self))
    case 3: return .string("plain")
    case 4: return .string(JSONValue.object(["q": .string(spelling(of: identifier)), "idfa": "z"]).serializedString)
    case 5: return .object(object(depth: depth - 1, identifier: identifier))
    default: return .array((0..<Int(next() % 3)).map { _ in value(depth: depth - 1, identifier: identifier) })
    }
  }
}
