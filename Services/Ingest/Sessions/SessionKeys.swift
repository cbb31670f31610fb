import AttributionQueue

/// The Redis keys of the sessions of one install. All of them are in one slot, and contain only a hash of the install.
struct SessionKeys: Sendable {
  /// ``SessionSubmission/installHash``.
  let installHash: String

  /// A string: the state of the install (``ATTInstall/text``).
  var install: String { InstallStatusReader.key(ofInstall: installHash) }
  /// A sorted set: the ids of the held deliveries, by their position.
  var held: String { key("held") }

  /// A string: the whole payload of one session, if the user has consented or may still consent.
  func payload(_ digest: String) -> String { key("payload") + ":" + digest }

  /// A string: the time at which the session with this digest was first received.
  func firstSeen(_ digest: String) -> String { key("first") + ":" + digest }

  /// A hash: the failed requests with one session (``SessionTries``).
  func tries(_ delivery: String) -> String { key("tries") + ":" + delivery }

  private func key(_ name: String) -> String { Keys.own("ingest", "\(name):\(installHash)", shardOf: installHash) }
}
