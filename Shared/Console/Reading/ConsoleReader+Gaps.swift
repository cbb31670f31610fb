import AttributionProtocol

/// The gaps of all apps, newest first.
struct FoundGaps: Sendable {
  var gaps: [Gap] = []
  /// True if there are more.
  var isCut = false
  /// The number of apps that were asked about, if not all.
  var onlyApps: Int?
}

extension ConsoleReader {
  /// The greatest number of apps that are asked about, since each takes a call.
  private static let maxApps = 50

  /// - Parameters:
  ///   - state: only gaps in this state.
  ///   - app: only gaps of this app, by its bundle id.
  ///   - limit: the greatest number of gaps of each app.
  func gaps(state: String?, app: String? = nil, limit: Int32) async -> QueryResult<FoundGaps> {
    guard may(NotificationRecoveryService.ListGaps.self) else { return .notice(.notAllowed(NotificationRecoveryService.ListGaps.name)) }
    guard services.recovery != nil else { return .notice(.recoveryNotConfigured) }
    let apps = app.map { [$0] } ?? Array(services.apps.prefix(Self.maxApps))
    let results = await withTaskGroup(of: QueryResult<ListGapsResponse>.self) { group in
      for app in apps {
        group.addTask {
          await self.recovery(NotificationRecoveryService.ListGaps.self, ListGapsRequest(bundleId: app, maxGaps: limit, state: state))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let isPart = app == nil && services.apps.count > apps.count
    var found = FoundGaps(isCut: isPart, onlyApps: isPart ? apps.count : nil)
    for result in results {
      switch result {
      case .response(let response):
        found.gaps += response.gaps
        found.isCut = found.isCut || response.nextPageToken != nil
      case .notice(let notice): return .notice(notice)
      }
    }
    found.gaps.sort { ($0.suspectedAt?.millisecondsSince1970 ?? 0, $0.gapId) > ($1.suspectedAt?.millisecondsSince1970 ?? 0, $1.gapId) }
    return .response(found)
  }
}
