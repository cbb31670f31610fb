import AppleAttribution
import Foundation
import Testing
import WireJSON

@Suite("ATT session")
struct ATTSessionTests {
  func read(_ text: String) throws -> SessionSubmission {
    try SessionSubmission(try #require(try JSONValue(parsing: text).objectValue))
  }

  @Test("the fields that routing needs are read from a session")
  func fields() throws {
    let session = try read(
      #"{"bundleId":"com.example.app","installId":"i","attStatus":0,"attConsentWaitingInterval":30,"urlStrategy":"default","deviceTime":"2026-09-10T08:00:00Z","x":[1]}"#
    )
    #expect(session.attStatus == .notDetermined && session.waitingInterval == 30 && session.strategy == "default")
    #expect(session.deviceTime == 1_789_027_200_000)
    #expect(session.payload["x"] == [1])
    #expect(session.installHash.count == 32 && !session.installHash.contains("com"))
  }

  @Test(
    "invalid fields are named",
    arguments: [
      ("{}", "bundleId"), (#"{"bundleId":1}"#, "bundleId"), (#"{"bundleId":"b"}"#, "installId"),
      (#"{"bundleId":"b","installId":""}"#, "installId"),
      (#"{"bundleId":"b","installId":"i","attStatus":"3"}"#, "attStatus"),
      (#"{"bundleId":"b","installId":"i","attStatus":3.5}"#, "attStatus"),
      (#"{"bundleId":"b","installId":"i","att_status":"3"}"#, "att_status"),
      (#"{"bundleId":"b","installId":"i","attConsentWaitingInterval":"5"}"#, "attConsentWaitingInterval"),
      (#"{"bundleId":"b","installId":"i","urlStrategy":5}"#, "urlStrategy"),
      (#"{"bundleId":"b","installId":"i","deviceTime":"yesterday"}"#, "deviceTime"),
    ])
  func refused(_ text: String, _ field: String) {
    #expect { try read(text) } throws: { ($0 as? FieldError)?.field == field }
  }

  @Test("two different statuses mean no consent")
  func contradiction() throws {
    #expect(try read(#"{"bundleId":"b","installId":"i","attStatus":3,"att_status":2}"#).attStatus == .unavailable)
    #expect(try read(#"{"bundleId":"b","installId":"i","attStatus":3,"att_status":3}"#).attStatus == .authorized)
    #expect(try read(#"{"bundleId":"b","installId":"i","att_status":3}"#).attStatus == .authorized)
    #expect(try read(#"{"bundleId":"b","installId":"i"}"#).attStatus == .unavailable)
  }

  @Test("the status is always included, as it is at the time of sending")
  func outgoing() {
    #expect(
      SessionSubmission.outgoing(["attStatus": 0, "a": 1], status: .authorized) == [
        "attStatus": 3, "a": 1, "att_status": 3,
      ])
    #expect(SessionSubmission.outgoing(["a": 1], status: .unavailable) == ["a": 1, "att_status": -1])
  }

  @Test("times of RFC 3339 are parsed like Foundation parses them")
  func times() {
    let seed = UInt64.random(in: .min ... .max)
    var state = seed
    let formatter = ISO8601DateFormatter()
    for _ in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let seconds = Int64(state >> 31)
      let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
      #expect(DeviceTime.milliseconds(text) == seconds * 1000, "seed \(seed)")
    }
    #expect(DeviceTime.milliseconds("2026-09-10T08:00:00.2567+02:00") == 1_789_020_000_256)
    #expect(DeviceTime.milliseconds("2026-09-10t08:00:00-00:30") == 1_789_029_000_000)
  }

  @Test(
    "invalid times are refused",
    arguments: [
      "", "2026-09-10", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-09-10T24:00:00Z", "2026-09-10T08:00:00",
      "2026-09-10T08:00:00.Z", "2026-09-10T08:00:00Zx", "2026-09-10T08:00:00+2", "+026-09-10T08:00:00Z",
    ])
  func noTimes(_ text: String) { #expect(DeviceTime.milliseconds(text) == nil) }
}
