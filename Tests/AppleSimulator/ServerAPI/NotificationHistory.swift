import Synchronization
import WireJSON

/// *Get Notification History*: the notifications that were sent or should have been sent, in pages of twenty.
final class NotificationHistory: Sendable {
  static let pageSize = 20

  /// A request's body (*NotificationHistoryRequest*).
  struct Query: Sendable, Equatable {
    var start: Int64
    var end: Int64
    var type: String?
    var subtype: String?
    var transactionID: String?
    var onlyFailures: Bool

    init(_ body: [UInt8], environment: AppStoreEnvironment, now: Int64) throws {
      guard let json = (try? JSONValue(parsing: body))?.objectValue else { throw APIError.badRequest }
      guard let start = json["startDate"]?.int64Value, start > 0 else {
        throw APIError(4_000_015, "Invalid start date.")
      }
      guard let end = json["endDate"]?.int64Value, end > 0 else { throw APIError(4_000_016, "Invalid end date.") }
      guard start < end else { throw APIError(4_000_013, "Start date is not before the end date.") }
      guard start >= now - environment.historyDays * SimulatedSubscription.day else {
        throw APIError(4_000_012, "Start date is too far in the past.")
      }
      self.start = start
      self.end = end
      type = try Self.text(json["notificationType"], code: 4_000_018)
      subtype = try Self.text(json["notificationSubtype"], code: 4_000_018)
      transactionID = try Self.text(json["transactionId"], code: 4_000_006)
      if type != nil, transactionID != nil { throw APIError(4_000_019, "Several filters are given.") }
      if let type {
        guard
          NotificationKinds.exist(type: type, subtype: subtype)
            || (subtype == nil && NotificationKinds.subtypes[type] != nil)
        else { throw APIError(4_000_018, "Invalid notification type or subtype.") }
      } else if subtype != nil {
        throw APIError(4_000_018, "Invalid notification type or subtype.")
      }
      if let transactionID, !transactionID.utf8.allSatisfy({ (48...57).contains($0) }) {
        throw APIError.invalidTransactionID
      }
      switch json["onlyFailures"] {
      case nil: onlyFailures = false
      case .bool(let value): onlyFailures = value
      default: throw APIError.badRequest
      }
    }

    private static func text(_ value: JSONValue?, code: Int64) throws -> String? {
      guard let value else { return nil }
      guard let text = value.stringValue, !text.isEmpty else { throw APIError(code, "Invalid value.") }
      return text
    }

    func matches(_ record: NotificationRecord) -> Bool {
      guard record.isInHistory, record.signedDate >= start, record.signedDate < end else { return false }
      if let type, record.type != type || record.subtype != subtype { return false }
      if let transactionID, !record.transactionIDs.contains(transactionID) { return false }
      return !onlyFailures || !record.wasDelivered
    }
  }

  /// The state of a pagination token: the result of its query, and the offset of the next page in it.
  private struct Page {
    var query: Query
    /// `environment/bundle`.
    var owner: String
    var uuids: [String]
    var offset: Int
    /// The time at which the token was created, in milliseconds since 1970.
    var createdAt: Int64
  }

  private struct State {
    var pages: [String: Page] = [:]
    var lifetimeMilliseconds: Int64 = 24 * 3600 * 1000
  }

  private let archive: NotificationArchive
  private let random: SeededRandom
  private let state = Mutex(State())

  init(archive: NotificationArchive, random: SeededRandom) {
    self.archive = archive
    self.random = random
  }

  /// Sets the lifetime of all tokens, also of existing ones, in milliseconds. With 0 every token has expired.
  func setTokenLifetime(milliseconds: Int64) { state.withLock { $0.lifetimeMilliseconds = milliseconds } }

  func reset() { state.withLock { $0 = State() } }

  func respond(body: [UInt8], token: String?, bundleID: String, environment: AppStoreEnvironment, now: Int64) throws
    -> JSONValue
  {
    let query = try Query(body, environment: environment, now: now)
    let owner = environment.rawValue + "/" + bundleID
    var page: Page
    if let token {
      page = try storedPage(of: token, query: query, owner: owner, now: now)
    } else {
      let found = archive.uuids(from: query.start, before: query.end) {
        $0.bundleID == bundleID && $0.environment == environment && query.matches($0)
      }
      // Apple does not document an order. So the order is deliberately not chronological: it is that of the last bytes of the UUIDs.
      let shuffled = found.map { (key: $0.utf8.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, uuid: $0) }
        .sorted { ($0.key, $0.uuid) < ($1.key, $1.uuid) }
      page = Page(query: query, owner: owner, uuids: shuffled.map(\.uuid), offset: 0, createdAt: now)
    }
    let slice = page.uuids[page.offset..<min(page.offset + Self.pageSize, page.uuids.count)]
    page.offset += slice.count
    var response: JSONObject = [
      "notificationHistory": .array(archive.records(slice).map(\.historyItem)),
      "hasMore": .bool(page.offset < page.uuids.count),
    ]
    if page.offset < page.uuids.count {
      page.createdAt = now
      let next = page
      let text = Base64Text.encodeURL(Array((random.uuid() + ":" + String(page.offset)).utf8))
      state.withLock { $0.pages[text] = next }
      response["paginationToken"] = .string(text)
    }
    return .object(response)
  }

  /// The state of a pagination token. Throws if the token is unknown, has expired, or belongs to another request.
  private func storedPage(of token: String, query: Query, owner: String, now: Int64) throws -> Page {
    try state.withLock { state in
      guard let page = state.pages[token], page.query == query, page.owner == owner else {
        throw APIError(4_000_014, "Invalid pagination token.")
      }
      guard now - page.createdAt < state.lifetimeMilliseconds else { throw APIError(4_000_017, "Pagination token expired.") }
      return page
    }
  }
}
