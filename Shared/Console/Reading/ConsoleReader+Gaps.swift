import AttributionProtocol

/// Gaps of all apps together, the newest first.
struct FoundGaps: Sendable {
  var gaps: [Gap] = []
  /// Whether there are more.
  var isCut = false
}

extension ConsoleReader {
  /// Apps that are asked about: each is a call.
  private static let mostApps = 50

  /// - Parameters:
  ///   - state: only those in it.
  ///   - most: how many of each app.
  func gaps(state: String?, most: Int32) async -> Reading<FoundGaps> {
    guard may(NotificationRecoveryService.ListGaps.self) else { return .notice(.notAllowed(NotificationRecoveryService.ListGaps.name)) }
    guard services.recovery != nil else { return .notice(.recoveryNotConfigured) }
    let apps = services.apps.prefix(Self.mostApps)
    let answers = await withTaskGroup(of: Reading<ListGapsResponse>.self) { group in
      for app in apps {
        group.addTask {
          await self.recovery(NotificationRecoveryService.ListGaps.self, ListGapsRequest(bundleId: app, maxGaps: most, state: state))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var found = FoundGaps(isCut: services.apps.count > apps.count)
    for answer in answers {
      switch answer {
      case .answer(let response):
        found.gaps += response.gaps
        found.isCut = found.isCut || response.nextPageToken != nil
      case .notice(let notice): return .notice(notice)
      }
    }
    found.gaps.sort { ($0.suspectedAt?.millisecondsSince1970 ?? 0, $0.gapId) > ($1.suspectedAt?.millisecondsSince1970 ?? 0, $1.gapId) }
    return .answer(found)
  }
}
