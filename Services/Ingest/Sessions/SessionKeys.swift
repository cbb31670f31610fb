import AttributionQueue

/// The Redis keys of session routing. All keys of an install are in one slot, and contain only a hash of the install.
struct SessionKeys: Sendable {
  /// As ``SessionSubmission/installHash``.
  let installHash: String

  /// String: ``ATTInstall/text``.
  var install: String { InstallStatusReader.key(ofInstall: installHash) }
  /// Sorted set: the held deliveries, by their order.
  var held: String { key("held") }

  /// String: the whole payload of one session, for which there is or may be consent.
  func payload(_ digest: String) -> String { key("payload") + ":" + digest }

  /// String: the time at which these bytes were first received.
  func firstSeen(_ digest: String) -> String { key("first") + ":" + digest }

  /// Hash: ``SessionTries`` of one session.
  func tries(_ delivery: String) -> String { key("tries") + ":" + delivery }

  private func key(_ name: String) -> String { Keys.own("ingest", "\(name):\(installHash)", shardOf: installHash) }
}
