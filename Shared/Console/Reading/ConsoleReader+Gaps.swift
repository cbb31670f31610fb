import AttributionProtocol

/// The gaps of one app or of several, newest first.
struct FoundGaps: Sendable {
  var gaps: [Gap] = []
  /// True if there are more gaps of these apps, or if not all apps were queried.
  var isCut = false
  /// The number of queried apps; nil if all were queried, or only one on request.
  var queriedApps: Int?
}

extension ConsoleReader {
  /// The greatest number of apps that one page queries, since each app takes a call of `ListGaps`.
  private static let maxApps = 50

  /// Calls `ListGaps` for one app or for the first 50 configured apps. If one call fails, returns a notice instead of the gaps.
  ///
  /// - Parameters:
  ///   - state: only gaps in this state; nil for all states.
  ///   - app: only gaps of this app, by its bundle id; nil for all apps.
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
    var found = FoundGaps(isCut: isPart, queriedApps: isPart ? apps.count : nil)
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
