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
      "idfa", "IDFA", "Idfa", "started_at", "STARTED_AT", "startedAt", "clickDate", "click_date", "impressionDate", "advertiserId",
      "advertising_id", "advertisingIdentifier", "ifa", "ios_ifa", "$ios_ifa", "IDFA-SHA1", "iosAdvertisingId", "i%64fa", "i%2564fa",
      "device_idfa", "deviceIdfa", "idfaValue", "deviceIdFa", "maid", "madid", "mobile_ad_id", "mobileAdvertisingId",
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
      #"{\"\\u0069dfa\":\"E\",}"#, "p[idfa]=E", "<idfa>E</idfa>", "Started-At = 5", #"{\\\"started_at\\\":5}"#, "idfax=1", "unidfa: 2",
      "idfa[0]=E", "idfa.value=E", "ext.idfa.value: E", "https://x.example/?idfa[]=E",
    ])
  func saysField(_ written: String) throws {
    let result = try filter(#"{"partner":"\#(written)","deep":[{"partner":"\#(written)"}],"keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"deep":[{}],"keep":1}"#)
  }

  @Test(
    "a name that ends with that of a field is that field",
    arguments: ["device.idfa", "user[advertisingId]", "a:b/idfa", "x idfa", "idfa[]", "idfa[0]", "ext.idfa.value", "idfa/0", "idfa|x"])
  func path(_ name: String) throws {
    let result = try filter(#"{"\#(name)":"\#(Self.idfa)","copy":"x\#(Self.idfa)","keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"keep":1}"#)
    #expect(!result.removedNames.joined().contains("9619"))
  }

  @Test(
    "an identifier that is named only in a text is removed elsewhere too",
    arguments: [
      #"{\"idfa\":\"ID\"}"#, #"{\"a\":1,\"advertising_id\" : \"ID\",\"b\":2}"#, "https://x.example/?a=1&ifa=ID&b=2", "idfa=ID",
      "<idfa>ID</idfa>",
      "p[idfa]=ID", "i%64fa%3DID%26b", #"{\\\"idfa\\\":\\\"ID\\\"}"#, "idfa: 'ID'; a",
      "idfa|ID", "idfa ID", #"idfa\tID"#, "idfa,ID", "https://x.example/idfa/ID", "idfa[0]=ID", "https://x.example/?idfa[]=ID",
      "ext.idfa.value=ID", #"{\"idfa\":[\"a\",\"ID\"]}"#, "idfa=urn:uuid:ID&a=1",
    ])
  func copiesOfText(_ written: String) throws {
    let text = written.replacing("ID", with: Self.idfa)
    let result = try filter(#"{"first":"\#(Self.idfa.lowercased())","partner":"\#(text)","list":["x\#(Self.idfa)x",1],"keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"list":[1],"keep":1}"#)
  }

  @Test(
    "copies of the values of all removed fields are removed, from eight letters and digits on",
    arguments: [
      ("clickDate", #""2026-10-08T17:17Z""#, "tapped 2026-10-08T17:17Z!"), ("impressionDate", #""2026-10-08T17:17Z""#, "2026-10-08T17:17Z"),
      ("started_at", "1789020000", "1789020000"), ("email", #""anna@web.example""#, "Anna@web.example"),
      ("email", #""anna@web.example""#, "mailto:anna%40web.example"), ("email", #"{"work":["anna@web.example"]}"#, "<anna@web.example>"),
      ("phone", "4917012345678", "+49 170 1234-5678"), ("email", #""12345678""#, "a12345678b"),
    ])
  func copies(_ name: String, _ value: String, _ copy: String) throws {
    let filter = ConsentFilter(additionalNames: ["E-Mail", "phone", "clickDate"])
    let payload = try #require(
      try JSONValue(parsing: #"{"a":{"copy":"\#(copy)"},"\#(name)":\#(value),"list":["\#(copy)",1],"keep":"this"}"#).objectValue)
    let kept = filter.filter(payload, consent: false).payload
    #expect(JSONValue.object(kept).serializedString == #"{"a":{},"list":[1],"keep":"this"}"#)
  }

  @Test(
    "short and trivial values are not searched for",
    arguments: ["true", "0", "\"x\"", "null", "\"\"", "1234567", #""DE""#, #""unknown""#, "[]", "{}"])
  func trivial(_ value: String) throws {
    let filter = ConsentFilter(additionalNames: ["email", "", "-"])
    let rest = #""a":true,"b":0,"c":"x","d":null,"e":"","f":1234567,"g":"DE","h":"unknown 1234567 x","list":[true,0,"x",""]"#
    let payload = try #require(try JSONValue(parsing: #"{"email":\#(value),"idfa":\#(value),\#(rest)}"#).objectValue)
    #expect(JSONValue.object(filter.filter(payload, consent: false).payload).serializedString == "{\(rest)}")
  }

  @Test("a typographic dash or a hidden character in a copy does not hide it", arguments: ["–", "\u{200B}", "‑", " ", "_", "."])
  func separators(_ separator: String) throws {
    let result = try filter(#"{"idfa":"\#(Self.idfa)","copy":"\#(Self.idfa.replacing("-", with: separator))","keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"keep":1}"#)
  }

  @Test(
    "a text that only mentions a name is kept",
    arguments: [
      "the idfa is not here", "the idfa, and more", "restarted_at=1", "idfa", "Tarifa: 5",
      "Haifa", "bidFactor: 2", "bid_factor=2",
    ])
  func mentions(_ written: String) throws {
    let text = #"{"note":"\#(written)"}"#
    #expect(JSONValue.object(try filter(text).payload).serializedString == text)
  }

  /// A separate search for each position would take minutes.
  @Test("crafted input takes time proportional to its size")
  func size() throws {
    let long = try filter(#"{"idfa":"\#(String(repeating: "a", count: 80_000))","note":"\#(String(repeating: "a", count: 160_000))%"}"#)
    // Of a long value, its beginning is searched for.
    #expect(long.removedNames == ["idfa", "note"])
    let edge = try filter(
      #"{"idfa":"\#(String(repeating: "a", count: 64))","note":"\#(String(repeating: "a", count: 63) + "b" + String(repeating: "ab", count: 80_000))"}"#
    )
    #expect(edge.removedNames == ["idfa"])
    let words = try filter(
      #"{"note":"\#(String(repeating: "idfa:", count: 40_000))","tarifas":"\#(String(repeating: "ifa ", count: 40_000))"}"#)
    #expect(words.removedNames == ["note"])
    let many = (0..<4000).map { #"{"idfa":"\#("0123456789abcdef\($0)")","c\#($0)":"x0123456789abcdef\#($0)","d":"short"}"# }.joined(
      separator: ",")
    let result = try filter(#"{"list":[\#(many)]}"#)
    let out = JSONValue.object(result.payload).serializedString
    #expect(!out.contains("0123456789abcdef"))
    #expect(out.contains("short"))
  }

  /// 64 letters each, of 16 different ones, so 17 classes: 3,855 fit in the table.
  @Test("with more values than fit in the table, every text that could contain one is removed", arguments: [3855, 3856])
  func many(_ count: Int) throws {
    let values = (0..<count).map { String(repeating: "0123456789abcdef", count: 3) + String(1_000_000_000_000_000 + $0) }
    let list = values.map { "\"\($0)\"" }.joined(separator: ",")
    let ids = #""bundleId":"com.example.app","installId":"install-1234""#
    let result = try filter(
      #"{"idfa":[\#(list)],\#(ids),"copy":"x\#(values[0])x","other":"nothing of the kind here","short":"kept"}"#)
    #expect(
      JSONValue.object(result.payload).serializedString
        == (count == 3855 ? #"{\#(ids),"other":"nothing of the kind here","short":"kept"}"# : #"{"short":"kept",\#(ids)}"#))
    #expect(result.removedNames.contains("idfa"))
    let copied = try filter(#"{"idfa":[\#(list)],"bundleId":"com.example.app","installId":"x\#(values[1])"}"#)
    #expect(JSONValue.object(copied.payload).serializedString == #"{"bundleId":"com.example.app"}"#)
  }

  @Test("a batch of events keeps everything else")
  func batch() throws {
    let events = (0..<1000).map { #"{"started_at":"2026-09-10T08:00:00.\#(1000 + $0)Z","name":"level number \#($0) finished"}"# }
    let result = try filter(#"{"bundleId":"com.example.app","events":[\#(events.joined(separator: ","))]}"#)
    #expect(result.payload["events"]?.arrayValue?.allSatisfy { $0["name"] != nil && $0["started_at"] == nil } == true)
    #expect(result.removedNames == ["started_at"])
  }

  @Test(
    "a removed name that contains the identifier is not reported",
    arguments: [
      #"{"ID":"idfa=ID"}"#, #"{"idfa":"ID","ID":"idfa=ID"}"#, #"{"map":{"id-ID":"{\"idfa\":\"ID\"}"}}"#, #"{"idfa":"ID","idfa-ID":1}"#,
    ])
  func reportedNames(_ written: String) throws {
    let result = try filter(written.replacing("ID", with: Self.idfa))
    #expect(!result.removedNames.joined().contains("9619") && result.removedNames.contains("(a name that is the identifier)"))
    #expect(!JSONValue.object(result.payload).serializedString.contains("9619"))
  }

  @Test(
    "a UUID within a removed value is removed elsewhere too",
    arguments: [
      #"{"idfa":"Optional(\"ID\")"}"#, #"{"idfa":"urn:uuid:ID"}"#, #"{"idfa":"11111111-2222-3333-4444-555555555555,ID"}"#,
      #"{"idfa":"uuid HEX."}"#, #"{"advertising_ids":{"ID":"idfa"}}"#,
    ])
  func uuids(_ written: String) throws {
    let text = written.replacing("ID", with: Self.idfa).replacing("HEX", with: Self.idfa.replacing("-", with: ""))
    let result = try filter(#"{"a":\#(text),"copy":"\#(Self.idfa)","keep":1}"#)
    #expect(JSONValue.object(result.payload).serializedString == #"{"a":{},"keep":1}"#)
  }

  @Test("a field that is stated by its name and value is removed, wherever the value is")
  func pairs() throws {
    let text =
      #"{"p":[{"key":"idfa","value":"ID"}],"q":{"type":"IDFA","id":"ID","n":1},"r":["a","idfa","ID","b"],"#
      + #""s":[["advertisingIdentifier","ID"]],"copy":"ID","keep":1}"#
    let result = try filter(text.replacing("ID\"", with: Self.idfa + "\""))
    #expect(
      JSONValue.object(result.payload).serializedString
        == #"{"p":[{"key":"idfa"}],"q":{"type":"IDFA","n":1},"r":["a","idfa","b"],"s":[["advertisingIdentifier"]],"keep":1}"#)
  }

  @Test("a field that is stated by its name and a list or an object is removed too")
  func nestedPairs() throws {
    let text =
      #"{"p":[{"key":"idfa","value":["ID"]},{"key":"idfa","value":{"id":"ID"}}],"r":["idfa",["ID"]],"#
      + #""t":"{\"ext.idfa.value\":\"ID\"}"}"#
    let result = try filter(text.replacing("ID", with: Self.idfa))
    #expect(!JSONValue.object(result.payload).serializedString.contains("9619"))
  }

  @Test(
    "what only mentions the identifier, or has none, costs no other field",
    arguments: [
      #"{"bundleId":"com.example.app","events":[{"name":"idfa_prompt_shown","app":"com.example.app","screen":"onboarding"}],"keep":"onboarding"}"#,
      #"{"bundleId":"com.example.app","idfa_status":"not_determined","keep":"not_determined"}"#,
      #"{"bundleId":"com.example.app","partner":"{\"idfa\":\"\",\"bundleId\":\"x\"}","keep":"bundleId"}"#,
      #"{"bundleId":"com.example.app","partner":"idfa=|installId=5","list":["idfa","location"],"keep":"location installId"}"#,
    ])
  func mentioned(_ text: String) throws {
    let payload = try filter(text).payload
    #expect(payload["bundleId"] == "com.example.app" && payload["keep"] != nil)
  }

  @Test("names and words that only have some of the letters are kept")
  func similar() throws {
    let text =
      #"{"adid":"123456789","bidFactor":1,"bid_factor":2,"city":"Haifa","place":{"city":"haifa","country":"IL"},"list":["Haifa","Tarifa"]}"#
    let result = try filter(text)
    #expect(JSONValue.object(result.payload).serializedString == text && result.removedNames.isEmpty)
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

  @Test("names of a deployment are added to the standard ones")
  func additional() {
    let filter = ConsentFilter(additionalNames: ["email", "gps_adid"])
    let payload: JSONObject = [
      "gps_adid": "0123456789abcdef0123", "E-Mail": "x", "idfa": "y", "copy": "0123456789ABCDEF0123", "keep": 1,
    ]
    #expect(filter.filter(payload, consent: false).payload == ["keep": 1])
  }

  @Test("patterns are found exactly where one of them occurs")
  func patterns() {
    var random = SeededRandom("patterns")
    for _ in 0..<5000 {
      let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random) }
      let parts = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        (0..<Int.random(in: 1...6, using: &random)).map { _ in UInt8.random(in: 97...98, using: &random) }
      }
      let stands = parts.contains { part in
        text.count >= part.count && (0...text.count - part.count).contains { Array(text[$0..<$0 + part.count]) == part }
      }
      #expect(BytePatterns(parts).occur(in: text) == stands, "\(parts) in \(text)")
    }
    #expect(BytePatterns([Array("abcé".utf8)]).occur(in: "A-B c.É é abc-é".utf8))
    #expect(!BytePatterns([Array("abcé".utf8)]).occur(in: "abcd é".utf8) && !BytePatterns([[]]).occur(in: "a".utf8))
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
