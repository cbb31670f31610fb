import AppleAttribution
import AttributionQueue

/// Applies a withdrawn consent to exchanges: a token may wait for a day, and its outcome is kept for two.
struct ConsentCheck: Sendable {
  let statuses: InstallStatusReader

  /// The exchange with the status that counts now. Throws if Redis does not answer, so that nothing is passed on without the check.
  func checked(_ exchange: Exchange) async throws -> Exchange {
    guard exchange.needsCurrentStatus, let installId = exchange.installId else { return exchange }
    let hash = SessionSubmission.installHash(bundleId: exchange.bundleId, installId: installId)
    guard let text = try await statuses.text(ofInstall: hash) else { return exchange }
    var checked = exchange
    checked.apply(ATTInstall(stored: text))
    return checked
  }
}
