import AttributionQueue

/// Every key that session routing keeps in Redis, those of one install in one slot. An install stands in them by its
/// hash only.
struct SessionKeys: Sendable {
  /// As ``SessionSubmission/installHash``.
  let installHash: String

  /// String: ``ATTInstall/text``.
  var install: String { key("install") }
  /// Sorted set: deliveries that are held, by their place.
  var held: String { key("held") }

  /// String: the whole payload of one session that consent may yet allow or has allowed to pass on.
  func payload(_ digest: String) -> String { key("payload") + ":" + digest }

  /// String: when these bytes were first received.
  func firstSeen(_ digest: String) -> String { key("first") + ":" + digest }

  private func key(_ name: String) -> String { Keys.own("ingest", "\(name):\(installHash)", shardOf: installHash) }
}
