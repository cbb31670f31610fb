import AppleAttribution
import AttributionQueue

/// Applies a withdrawal of consent to exchanges. The withdrawal may come after the token: a token may wait for a day, and its outcome can
/// be read for longer.
struct ConsentCheck: Sendable {
  let statuses: InstallStatusReader

  /// The exchange with the ATT status that counts now. Throws if Redis does not answer, so that no record is passed on without the check.
  func checked(_ exchange: Exchange) async throws -> Exchange {
    guard exchange.needsCurrentStatus, let installId = exchange.claims.installId else { return exchange }
    let hash = SessionSubmission.installHash(bundleId: exchange.claims.bundleId, installId: installId)
    guard let text = try await statuses.text(ofInstall: hash) else { return exchange }
    var checked = exchange
    checked.apply(ATTInstall(stored: text))
    return checked
  }
}
