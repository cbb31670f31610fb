import AppleAttribution
import Testing
import WireJSON

@Suite("ATT status")
struct ATTStatusTests {
  @Test(
    "only 3 is consent",
    arguments: [
      ("0", ATTStatus.notDetermined), ("1", .restricted), ("2", .denied), ("3", .authorized), ("-1", .unavailable),
      ("4", .unknown(4)), ("-2", .unknown(-2)), ("9223372036854775807", .unknown(.max)), ("7", .unknown(7)),
      // As JSON libraries and wrappers of SDKs write them.
      ("3.0", .authorized), ("3e0", .authorized), ("2.00", .denied), (#""3""#, .authorized), (#"" 2 ""#, .denied), (#""3.0""#, .authorized),
      (#""-1""#, .unavailable), (#""7""#, .unknown(7)),
      (#""authorized""#, .authorized), (#""AUTHORISED""#, .authorized), (#""granted""#, .authorized),
      (#""ATTrackingManagerAuthorizationStatusAuthorized""#, .authorized), (#""TrackingStatus.authorized""#, .authorized),
      (#""denied""#, .denied), (#""Denied""#, .denied), (#""blocked""#, .denied), (#""restricted""#, .restricted),
      (#""not_determined""#, .notDetermined), (#""notDetermined""#, .notDetermined), (#""NOT-DETERMINED""#, .notDetermined),
      (#""undetermined""#, .notDetermined), (#""unavailable""#, .unavailable), (#""notSupported""#, .unavailable),
    ])
  func codes(_ text: String, _ status: ATTStatus) throws {
    let read = try #require(ATTStatus(JSONValue(parsing: text)))
    #expect(read == status)
    #expect(read.isConsent == (status == .authorized))
    #expect(read.isKnown == (0...3).contains(status.code))
  }

  @Test(
    "what is neither an integer nor a word for a status cannot be read, and is no consent",
    arguments: [
      #""?""#, #""""#, "true", "[3]", "{}", "99999999999999999999", "3.5", "2.9999999999999999999", "3.0000000000000000001", #""three""#,
      #""unauthorized""#, #""not authorized""#, #""authorized?no""#, #""!authorized""#, #""AUTHORIZED?""#, #""no: authorized""#,
      #""~authorized""#,
      #""03""#, #""0x3""#, #""3 3""#, #""٣""#, #""yes""#,
    ])
  func unreadable(_ text: String) throws {
    #expect(try ATTStatus(JSONValue(parsing: text)) == nil)
    for name in ["attStatus", "att_status", "ATTStatus"] {
      let report = ATTStatusReport(in: [name: try JSONValue(parsing: text)])
      #expect(report.status == .unavailable && report.isStated && report.isUnknown)
      #expect(report.fault?.field == name && report.fault?.reason.contains(text) == false)
    }
  }

  @Test("an absent status is no consent, and is not stated")
  func absent() {
    for payload in [[:], ["attStatus": nil], ["attStatus": nil, "att_status": nil]] as [JSONObject] {
      let report = ATTStatusReport(in: payload)
      #expect(report.status == .unavailable && !report.isStated && report.fault == nil && !report.isUnknown)
    }
    #expect(!ATTStatusReport(nil).isStated)
    #expect(ATTStatusReport("denied").status == .denied)
    #expect(ATTStatusReport("?").fault?.field == "attStatus" && ATTStatusReport("?").isStated)
    #expect(ATTStatusReport(in: ["attStatus": 7]).isUnknown && ATTStatusReport(in: ["attStatus": 7]).fault == nil)
  }

  @Test("statuses that contradict each other are no consent, wherever they are")
  func contradictory() throws {
    for text in [
      #"{"attStatus":3,"att_status":2}"#, #"{"attStatus":3,"AttStatus":"denied"}"#, #"{"attStatus":3,"ATT-Status":"?"}"#,
      #"{"attStatus":3,"events":[{"name":"a","attStatus":3},{"name":"b","att_status":2}]}"#, #"{"attStatus":3,"device":{"attStatus":0}}"#,
      #"{"attStatus":3,"batch":[[{"x":{"attStatus":"?"}}]]}"#,
    ] {
      let report = ATTStatusReport(in: try #require(try JSONValue(parsing: text).objectValue))
      #expect(report.status == .unavailable && report.isStated, "\(text)")
    }
    for text in [
      #"{"attStatus":3,"att_status":"authorized"}"#, #"{"attStatus":3,"att_status":null}"#, #"{"attStatus":3,"events":[{"attStatus":3}]}"#,
    ] {
      #expect(ATTStatusReport(in: try #require(try JSONValue(parsing: text).objectValue)).status == .authorized, "\(text)")
    }
    // A status within the payload is no consent for all of it.
    #expect(ATTStatusReport(in: ["events": [["attStatus": 3]]]).status == .unavailable)
  }

  @Test("updates are ordered by device time, and by receipt if that is equal")
  func updates() {
    let asked = ATTStatusRecord(status: .notDetermined, deviceTime: 1000, receivedAt: 1100)
    #expect(ATTStatusRecord.applying(asked, to: nil).1 == .first)
    let yes = ATTStatusRecord(status: .authorized, deviceTime: 2000, receivedAt: 2500)
    #expect(ATTStatusRecord.applying(yes, to: asked) == (yes, .changed(from: .notDetermined, to: .authorized)))
    let late = ATTStatusRecord(status: .denied, deviceTime: 1500, receivedAt: 9000)
    #expect(ATTStatusRecord.applying(late, to: yes) == (yes, .older))
    let tie = ATTStatusRecord(status: .denied, deviceTime: 2000, receivedAt: 2600)
    #expect(ATTStatusRecord.applying(tie, to: yes) == (tie, .changed(from: .authorized, to: .denied)))
    let again = ATTStatusRecord(status: .authorized, deviceTime: 3000, receivedAt: 3000)
    let kept = ATTStatusRecord(status: .authorized, deviceTime: 3000, receivedAt: 3000, since: 2500)
    #expect(ATTStatusRecord.applying(again, to: yes) == (kept, .none))
  }

  @Test("a refusal with a device's time counts against a consent without one, and the consent does not return by its repetition")
  func mixedTimes() {
    // The device's clock is five minutes slow.
    let yes = ATTStatusRecord(status: .authorized, deviceTime: nil, receivedAt: 600_000)
    let no = ATTStatusRecord(status: .denied, deviceTime: 420_000, receivedAt: 720_000)
    #expect(ATTStatusRecord.applying(no, to: yes) == (no, .changed(from: .authorized, to: .denied)))
    #expect(ATTStatusRecord.applying(yes, to: no) == (no, .older))
    // A consent that was stored on the device before the refusal was received.
    let refused = ATTStatusRecord(status: .denied, deviceTime: nil, receivedAt: 720_000)
    let late = ATTStatusRecord(status: .authorized, deviceTime: 500_000, receivedAt: 900_000)
    #expect(ATTStatusRecord.applying(late, to: refused) == (refused, .older))
    // A consent that is newer by both orders.
    let later = ATTStatusRecord(status: .authorized, deviceTime: 800_000, receivedAt: 900_000)
    #expect(ATTStatusRecord.applying(later, to: refused) == (later, .changed(from: .denied, to: .authorized)))
    let again = ATTStatusRecord(status: .authorized, deviceTime: nil, receivedAt: 900_000)
    #expect(ATTStatusRecord.applying(again, to: no) == (again, .changed(from: .denied, to: .authorized)))
    // Between two statuses without consent the times are compared as they are.
    let asked = ATTStatusRecord(status: .notDetermined, deviceTime: nil, receivedAt: 600_000)
    #expect(ATTStatusRecord.applying(no, to: asked).1 == .older)
  }

  @Test("whatever the order of receipt, a consent is never stored after a refusal that is newer by the same kind of time")
  func mixedTimesOrder() {
    for refusalIsStated in [false, true] {
      for consentIsStated in [false, true] {
        for slow in [0, 300_000] as [Int64] {
          let yes = ATTStatusRecord(status: .authorized, deviceTime: consentIsStated ? 600_000 - slow : nil, receivedAt: 601_000)
          let no = ATTStatusRecord(status: .denied, deviceTime: refusalIsStated ? 720_000 - slow : nil, receivedAt: 721_000)
          let refused = ATTStatusRecord.applying(no, to: yes).0
          #expect(refused.status == .denied)
          #expect(ATTStatusRecord.applying(yes, to: refused).0.status == .denied)
        }
      }
    }
  }

  @Test("a device time in the future does not block later changes of the status")
  func future() {
    let ahead = ATTStatusRecord(status: .authorized, deviceTime: 9_000_000, receivedAt: 1000)
    #expect(ahead.deviceTime == 1000)
    let no = ATTStatusRecord(status: .denied, deviceTime: nil, receivedAt: 2000)
    #expect(ATTStatusRecord.applying(no, to: ahead).0.status == .denied)
  }

  @Test("an item is sent with consent only if there was consent at receipt and there still is")
  func consentDecision() {
    func now(_ status: ATTStatus, at: Int64 = 50) -> ATTStatusRecord {
      ATTStatusRecord(status: status, deviceTime: nil, receivedAt: at)
    }
    let decide = ConsentDecision.status(atReceipt:heldUntil:current:)
    // The install's status was lost.
    #expect(decide(.authorized, nil, nil) == .unavailable)
    #expect(decide(.authorized, nil, now(.authorized)) == .authorized)
    #expect(decide(.authorized, nil, now(.denied)) == .denied)
    #expect(decide(.authorized, nil, now(.notDetermined)) == .notDetermined)
    #expect(decide(.notDetermined, nil, now(.authorized)) == .notDetermined)
    #expect(decide(.denied, nil, now(.authorized)) == .denied)
    #expect(decide(.unavailable, 100, now(.authorized)) == .unavailable)
    #expect(decide(.notDetermined, 100, now(.authorized)) == .authorized)
    #expect(decide(.notDetermined, 100, now(.authorized, at: 101)) == .notDetermined)
    #expect(decide(.notDetermined, 100, now(.denied, at: 101)) == .denied)
    #expect(decide(.notDetermined, 100, nil) == .notDetermined)
  }
}
