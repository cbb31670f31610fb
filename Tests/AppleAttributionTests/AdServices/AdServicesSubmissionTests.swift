import AppleAttribution
import Testing

@Suite("AdServices token submission")
struct AdServicesSubmissionTests {
  let now: Int64 = 1_790_000_000_000

  func submission(
    token: String? = "YWJj", bundleId: String? = "com.example.app", installId: String? = "i-1",
    requestedAt: Int64? = nil
  ) throws(FieldError) -> TokenSubmission {
    try TokenSubmission(
      token: token, bundleId: bundleId, installId: installId, attStatus: .authorized, requestedAt: requestedAt,
      receivedAt: now)
  }

  @Test("a submission can be encoded for a queue and decoded")
  func roundTrip() throws {
    for installId in ["i-1", nil] {
      let sent = try submission(installId: installId, requestedAt: now - 5)
      let read = try TokenSubmission(token: sent.token.text, attributes: sent.attributes, receivedAt: now)
      #expect(read == sent)
    }
  }

  @Test("the same token is the same exchange for every sender")
  func sameToken() throws {
    #expect(
      try submission().idempotencyKey == submission(token: " YWJj\n", bundleId: "b", installId: nil).idempotencyKey)
    #expect(try submission().idempotencyKey != submission(token: "YWJk").idempotencyKey)
    #expect(try !submission().attributes.values.contains { $0.contains("YWJj") })
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
