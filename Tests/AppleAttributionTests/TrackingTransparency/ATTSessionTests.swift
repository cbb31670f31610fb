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
      (#"{"bundleId":"b","installId":"i","urlStrategy":5}"#, "urlStrategy"),
    ])
  func refused(_ text: String, _ field: String) {
    #expect { try read(text) } throws: { ($0 as? FieldError)?.field == field }
  }

  @Test("a status, a wait or a time that cannot be read never refuses a session")
  func unreadable() throws {
    let session = try read(
      #"{"bundleId":"b","installId":"i","attStatus":"?","attConsentWaitingInterval":"soon","deviceTime":"yesterday"}"#)
    #expect(session.attStatus == .unavailable && session.report.fault?.field == "attStatus")
    #expect(session.waitingInterval == nil && session.deviceTime == nil)
  }

  @Test(
    "a wait is a number of seconds, rounded up",
    arguments: [
      ("60", 60), ("60.0", 60), ("7.5", 8), ("0.2", 1), (#""60""#, 60), (#""7.5""#, 8), ("6e1", 60), ("0", 0), ("0.0", 0), ("-5", -1),
      ("1e300", 1_000_000_000), ("true", nil), (#""""#, nil), (#""inf""#, nil), ("[60]", nil), ("null", nil),
    ] as [(String, Int64?)])
  func interval(_ text: String, _ seconds: Int64?) throws {
    #expect(try read(#"{"bundleId":"b","installId":"i","attConsentWaitingInterval":\#(text)}"#).waitingInterval == seconds)
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
    #expect(SessionSubmission.outgoing(["AttStatus": "?"], status: .unavailable) == ["AttStatus": -1, "att_status": -1])
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
      #expect(DeviceTime.milliseconds(text) == (seconds < 1_577_836_800 ? nil : seconds * 1000), "seed \(seed)")
    }
    #expect(DeviceTime.milliseconds("2026-09-10T08:00:00.2567+02:00") == 1_789_020_000_256)
    #expect(DeviceTime.milliseconds("2026-09-10t08:00:00-00:30") == 1_789_029_000_000)
  }

  @Test(
    "times are read as SDKs write them",
    arguments: [
      "2026-09-10T08:00:00.250+0200", "2026-09-10T08:00:00.250Z+0200", "2026-09-10T08:00:00.250+02", "2026-09-10 08:00:00.250 +0200",
      "2026-09-10T08:00:00,250 02:00", "٢٠٢٦-٠٩-١٠T٠٨:٠٠:٠٠.٢٥٠+٠٢:٠٠", "۲۰۲۶-۰۹-۱۰T۰۶:۰۰:۰۰.۲۵۰Z", "1789020000.25", "1789020000250",
      "1789020000250.0", "١٧٨٩٠٢٠٠٠٠٢٥٠",
    ])
  func written(_ text: String) throws {
    #expect(DeviceTime.milliseconds(text) == 1_789_020_000_250)
    #expect(DeviceTime.milliseconds(.string(text)) == 1_789_020_000_250)
    if let number = try? JSONValue(parsing: text) { #expect(DeviceTime.milliseconds(number) == 1_789_020_000_250) }
  }

  @Test("a number of seconds is told from one of milliseconds")
  func seconds() {
    #expect(DeviceTime.milliseconds(1_789_020_000) == 1_789_020_000_000)
    #expect(DeviceTime.milliseconds(1_789_020_000_000) == 1_789_020_000_000)
    #expect(DeviceTime.milliseconds(1_577_836_800) == 1_577_836_800_000)
    #expect(DeviceTime.milliseconds("2020-01-01T00:00:00Z") == 1_577_836_800_000)
  }

  @Test(
    "a time that cannot be read, of another calendar or before 2020 is none",
    arguments: [
      "", "2026-09-10", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-09-10T24:00:00Z", "2026-09-10T08:00:00",
      "2026-09-10T08:00:00.Z", "2026-09-10T08:00:00Zx", "2026-09-10T08:00:00+2", "+026-09-10T08:00:00Z", "0008-09-10T08:00:00Z",
      "1448-03-27T08:00:00Z", "-5", "1e300", "08:00", "yesterday", "{}", "0", "0.0", "1e-5", "٠", "1000",
      "810720000.25", "1577836799", "1577836799999", "1970-01-01T00:00:00Z", "2019-12-31T23:59:59.999Z", "2020-01-01T00:00:00+00:01",
    ])
  func noTimes(_ text: String) {
    #expect(DeviceTime.milliseconds(text) == nil)
    if let number = try? JSONValue(parsing: text) { #expect(DeviceTime.milliseconds(number) == nil) }
  }
}
