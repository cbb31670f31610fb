import AppleAttribution
import Testing

@Suite("AdServices token submission")
struct AdServicesSubmissionTests {
  let now: Int64 = 1_790_000_000_000

  func submission(
    token: String? = "YWJj", bundleId: String? = "com.example.app", installId: String? = "i-1", attStatus: ATTStatus? = .authorized,
    requestedAt: Int64? = nil
  ) throws(FieldError) -> TokenSubmission {
    try TokenSubmission(
      token: token, bundleId: bundleId, installId: installId, attStatus: attStatus, requestedAt: requestedAt,
      receivedAt: now)
  }

  @Test("a submission can be encoded for a queue and decoded")
  func roundTrip() throws {
    for (installId, attStatus) in [("i-1", .unavailable), (nil, nil), (nil, .unknown(7))] as [(String?, ATTStatus?)] {
      let sent = try submission(installId: installId, attStatus: attStatus, requestedAt: now - 5)
      let read = try TokenSubmission(token: sent.token.text, attributes: sent.claims.attributes, receivedAt: now)
      #expect(read == sent)
    }
  }

  @Test("the same token is the same exchange for every sender")
  func sameToken() throws {
    #expect(
      try submission().idempotencyKey == submission(token: " YWJj\n", bundleId: "b", installId: nil).idempotencyKey)
    #expect(try submission().idempotencyKey != submission(token: "YWJk").idempotencyKey)
    #expect(try !submission().claims.attributes.values.contains { $0.contains("YWJj") })
  }

  @Test("what a later submission says has one key for each content, which does not show the token")
  func additions() throws {
    let keys = try [
      submission(), submission(installId: "i-2"), submission(installId: nil), submission(attStatus: nil), submission(attStatus: .denied),
      submission(bundleId: "com.example.other"), submission(token: "YWJk"),
    ].map(\.additionKey)
    #expect(Set(keys).count == keys.count && !keys.joined().contains("YWJ"))
    #expect(try submission(requestedAt: now - 5).additionKey == submission().additionKey)
  }

  @Test("later submissions add what was not known, and what they contradict is named")
  func joined() throws {
    var claims = try submission(installId: nil, attStatus: nil).claims
    var isNew = claims.join(try submission(installId: nil, attStatus: nil, requestedAt: now - 5).claims)
    #expect(!isNew && claims.createdAt == now - 5 && claims.conflicting == [])
    isNew = claims.join(try submission(installId: "i-1", attStatus: .authorized).claims)
    #expect(isNew && claims.installId == "i-1" && claims.attStatus == .authorized && claims.createdAt == now - 5)
    isNew = claims.join(try submission(installId: nil, attStatus: nil).claims)
    #expect(!isNew && claims.conflicting == [])
    isNew = claims.join(try submission(installId: "i-2", attStatus: .denied).claims)
    #expect(isNew && claims.installId == "i-1" && claims.attStatus == .denied && claims.conflicting == ["attStatus", "installId"])
    isNew = claims.join(try submission(bundleId: "b", attStatus: .authorized).claims)
    #expect(isNew && claims.bundleId == "com.example.app" && claims.attStatus == .denied)
    #expect(claims.conflicting == ["attStatus", "bundleId", "installId"])
    isNew = claims.join(try submission(bundleId: "b", attStatus: .authorized).claims)
    #expect(!isNew)
  }

  @Test("of two statuses, the stricter one counts, whichever came first")
  func stricter() throws {
    let statuses: [ATTStatus] = [.authorized, .notDetermined, .denied, .restricted, .unavailable, .unknown(7)]
    for one in statuses {
      for other in statuses where one != other {
        var claims = try submission(attStatus: one).claims
        claims.join(try submission(attStatus: other).claims)
        #expect(claims.conflicting == ["attStatus"] && claims.attStatus?.isConsent == false, "\(one), \(other)")
        if one == .notDetermined, other != .authorized { #expect(claims.attStatus == other) }
        if other == .notDetermined, one != .authorized { #expect(claims.attStatus == one) }
      }
    }
  }

  @Test("invalid fields are named")
  func refused() {
    func field(_ body: () throws -> TokenSubmission) -> String? {
      do { _ = try body() } catch { return (error as? FieldError)?.field }
      return nil
    }
    #expect(field { try submission(token: nil) } == "token")
    #expect(field { try submission(bundleId: nil) } == "bundleId")
    #expect(field { try submission(bundleId: "") } == "bundleId")
    #expect(field { try submission(installId: String(repeating: "x", count: 256)) } == "installId")
    #expect(field { try submission(installId: "a\nb") } == "installId")
    #expect(field { try submission(requestedAt: now - 86_400_001) } == "requestedAt")
    #expect(field { try TokenSubmission(token: "YWJj", attributes: [:], receivedAt: now) } == "createdAt")
  }
}
