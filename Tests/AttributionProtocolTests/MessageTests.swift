import AttributionProtocol
import TestSupport
import Testing
import WireJSON

@Suite struct MessageTests {
  typealias Impression = SignSKAdNetworkImpressionRequest

  private func error(_ text: String) -> JSONError? {
    do throws(JSONError) {
      _ = try Impression(json: Array(text.utf8))
      return nil
    } catch { return error }
  }

  @Test func `Both names of a field are read, and null means absent`() throws {
    let text = #"{"ad_network_id":"a","itunesItemId":"9007199254740993","campaign_id":3.0,"nonce":null}"#
    let message = try Impression(json: Array(text.utf8))
    #expect(message.adNetworkId == "a")
    #expect(message.itunesItemId == 9_007_199_254_740_993)
    #expect(message.campaignId == 3)
    #expect(message.nonce == nil)
    #expect(
      String(decoding: message.json, as: UTF8.self)
        == #"{"adNetworkId":"a","campaignId":3,"itunesItemId":"9007199254740993"}"#)
  }

  @Test(arguments: [
    (#"{"campainId":1}"#, "campainId"), (#"{"campaignId":1,"campaign_id":1}"#, "campaign_id"),
    (#"{"nonce":null,"nonce":"a"}"#, "nonce"), (#"{"campaignId":"x"}"#, "campaignId"),
    (#"{"campaignId":2147483648}"#, "campaignId"), (#"{"campaignId":1.5}"#, "campaignId"),
    (#"{"itunesItemId":9223372036854775808}"#, "itunesItemId"), (#"{"version":2}"#, "version"),
    (#"{"sourceDomain":{}}"#, "sourceDomain"),
  ])
  func `An invalid field is named with its path`(_ text: String, _ path: String) {
    #expect(error(text)?.path == path)
  }

  @Test func `An impression with any values can be written and read back`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    let texts = ["", "a", "ü€😀", "\"\\\u{0}\n", String(repeating: "x", count: 300)]
    let numbers: [Int64] = [0, 1, -1, 1 << 53, (1 << 53) - 1, .max, .min]
    for _ in 0..<500 {
      func text() -> String? { Bool.random(using: &random) ? texts.randomElement(using: &random) : nil }
      func number() -> Int64? { Bool.random(using: &random) ? numbers.randomElement(using: &random) : nil }
      func small() -> Int32? { Bool.random(using: &random) ? Int32.random(in: .min ... .max, using: &random) : nil }
      let message = Impression(
        version: text(), adNetworkId: text(), campaignId: small(), sourceIdentifier: small(), itunesItemId: number(),
        sourceAppId: number(), sourceDomain: text(), fidelityType: small(), nonce: text(), timestamp: number())
      #expect(try Impression(json: message.json) == message, "seed \(seed)")
    }
  }
}

@Suite struct ErrorBodyTests {
  @Test func `An error's details are read back from their binary form`() {
    let error = RPCError(
      .resourceExhausted, "slow down", reason: "RATE_LIMITED", metadata: ["a": "b", "c": ""],
      retryDelay: .milliseconds(1500),
      fieldViolations: [.init(field: "items[3].x", description: "must be y"), .init(field: "", description: "ü")])
    #expect(RPCError(body: error.json, httpStatus: 500) == error)
    #expect(error.retryAfterSeconds == 2)
  }

  @Test func `The published example of a retry detail is written exactly`() {
    let error = RPCError(.resourceExhausted, "rate limit reached for this caller", retryDelay: .seconds(1))
    let text = String(decoding: error.json, as: UTF8.self)
    #expect(text.contains(#"{"type":"google.rpc.RetryInfo","value":"CgIIAQ","debug":{"retryDelay":"1s"}}"#))
  }

  @Test(arguments: [
    (400, RPCCode.internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
    (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (418, .unknown),
    (500, .unknown),
  ])
  func `Without a body the status decides`(_ status: Int, _ code: RPCCode) {
    for body in ["", "<html>", "{}", #"{"code":"no_such_code"}"#, "[]"] {
      #expect(RPCError(body: Array(body.utf8), httpStatus: status).code == code)
    }
    #expect(RPCError(body: Array(#"{"code":"aborted"}"#.utf8), httpStatus: status).code == .aborted)
  }

  @Test func `An invalid detail is ignored`() {
    let body = #"{"code":"aborted","message":"m","details":[{"type":"google.rpc.RetryInfo","value":"Cv8"},3,{"type":"x"}]}"#
    let error = RPCError(body: Array(body.utf8), httpStatus: 409)
    #expect(error.code == .aborted)
    #expect(error.message == "m")
  }
}

@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0, 0), ("2026-11-21T08:00:00.123Z", 1_795_248_000, 123_000_000),
    ("2026-11-21T09:30:00+01:30", 1_795_248_000, 0), ("1969-12-31T23:59:59.999999999z", -1, 999_999_999),
    ("2000-02-29t12:00:00-00:00", 951_825_600, 0), ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
    ("9999-12-31T23:59:59Z", 253_402_300_799, 0),
  ])
  func `Times are parsed as RFC 3339`(_ text: String, _ seconds: Int, _ nanos: Int) {
    #expect(Timestamp(text: text) == Timestamp(seconds: Int64(seconds), nanos: Int32(nanos)))
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T08:00:00", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z", "2026-11-21T08:00:00.Z",
    "2026-11-21T08:00:00Zx", "2026-11-21T08:00:00+24:00", "0000-01-01T00:00:00Z", "2026-11-21 08:00:00Z",
  ])
  func `An invalid time is refused`(_ text: String) { #expect(Timestamp(text: text) == nil) }

  @Test func `A time can be written and read back`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    for _ in 0..<2000 {
      let time = Timestamp(
        seconds: .random(in: -62_135_596_800...253_402_300_799, using: &random),
        nanos: [0, 1, 1000, 120_000_000, 999_999_999].randomElement(using: &random)!)
      #expect(Timestamp(text: time.text) == time, "seed \(seed)")
      let milliseconds = time.millisecondsSince1970
      #expect(Timestamp(millisecondsSince1970: milliseconds).millisecondsSince1970 == milliseconds)
    }
  }
}
