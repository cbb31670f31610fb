public import AttributionProtocol
import WireJSON

/// A handler of a method whose request is `{"items": […]}` and whose response is `{"results": […]}`, with one result per item, in order.
///
/// Items are divided into shares that run on all cores. A share parses, answers and encodes its items one after the other, so that only
/// bytes are held for the other items. An item that cannot be parsed gives an error result and does not fail the call.
public protocol BatchRPCHandler<Method>: RPCHandler {
  associatedtype Item: RPCMessage
  associatedtype ItemResult: RPCMessage
  associatedtype Resources: Sendable = Void

  /// Resources that all items need, obtained once per call. An error fails the whole call.
  func resources(_ context: RPCContext) async throws(RPCError) -> Resources
  /// Answers one item.
  func respond(to item: Item, _ resources: Resources, _ context: RPCContext) async throws(RPCError) -> ItemResult
  /// Answers a share of the items in order. By default each item is answered on its own.
  func respond(toShare items: [Result<Item, RPCError>], _ resources: Resources, _ context: RPCContext) async
    -> [Result<ItemResult, RPCError>]
  /// The result that carries an error.
  func failure(_ error: RPCError) -> ItemResult
}

extension BatchRPCHandler where Resources == Void {
  public func resources(_ context: RPCContext) async throws(RPCError) {}
}

extension BatchRPCHandler {
  public func respond(toShare items: [Result<Item, RPCError>], _ resources: Resources, _ context: RPCContext) async
    -> [Result<ItemResult, RPCError>]
  {
    var results: [Result<ItemResult, RPCError>] = []
    results.reserveCapacity(items.count)
    for item in items {
      do throws(RPCError) {
        results.append(.success(try await respond(to: try item.get(), resources, context)))
      } catch {
        results.append(.failure(error))
      }
    }
    return results
  }

  /// Required by ``RPCHandler``. The server calls the variant on bytes instead.
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let response = try await handle(request.json, JSONLimits(), context)
    do throws(JSONError) { return try Method.Response(json: response) } catch { throw .invalidArgument(error) }
  }
}

extension ItemError {
  /// Why one item of a batch has no result.
  public init(_ error: RPCError) {
    self.init(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field)
  }
}

/// The number of items of a share: large enough that creating tasks costs little, small enough that all cores finish at about the same
/// time.
private let itemsOfShare = 16

extension BatchRPCHandler {
  func handle(_ body: [UInt8], _ limits: JSONLimits, _ context: RPCContext) async throws(RPCError) -> [UInt8] {
    let items: BatchItems
    do throws(JSONError) { items = try BatchItems(body, limits: limits) } catch { throw .invalidArgument(error) }
    guard items.starts.count <= context.limits.batchItems else {
      throw .invalidArgument(field: "items", "has more than \(context.limits.batchItems) items")
    }
    guard !items.starts.isEmpty else { return Array("{}".utf8) }
    let resources = try await resources(context)
    var shares: [[UInt8]] = []
    if items.starts.count <= itemsOfShare {
      shares.append(await respond(to: items, 0..<items.starts.count, resources, context))
    } else {
      let count = (items.starts.count + itemsOfShare - 1) / itemsOfShare
      shares = Array(repeating: [], count: count)
      await withTaskGroup(of: (Int, [UInt8]).self) { group in
        for share in 0..<count {
          let range = share * itemsOfShare..<min((share + 1) * itemsOfShare, items.starts.count)
          group.addTask { (share, await respond(to: items, range, resources, context)) }
        }
        for await (share, written) in group { shares[share] = written }
      }
    }
    if Self.isAbandoned(context) { throw .timeIsOver }
    var writer = JSONWriter(reserving: shares.reduce(64) { $0 + $1.count + 1 })
    writer.beginObject()
    writer.key("results")
    writer.beginArray()
    for share in shares { writer.raw(share) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// True if nobody gets the response: the call was cancelled, and no repeat will ask for it.
  private static func isAbandoned(_ context: RPCContext) -> Bool { Task.isCancelled && context.idempotencyKey == nil }

  private func respond(to items: BatchItems, _ range: Range<Int>, _ resources: Resources, _ context: RPCContext) async -> [UInt8] {
    guard !Self.isAbandoned(context) else { return [] }
    let share: [Result<Item, RPCError>] = range.map { index in
      do throws(JSONError) { return .success(try items.read(index)) } catch { return .failure(.invalidArgument(error)) }
    }
    var writer = JSONWriter(reserving: range.count * 640)
    for result in await respond(toShare: share, resources, context) {
      switch result {
      case .success(let result): result.write(to: &writer)
      case .failure(let error): failure(error).write(to: &writer)
      }
    }
    return writer.bytes
  }
}

/// The offsets of a batch's items in its body.
private struct BatchItems: Sendable {
  let reader: JSONReader
  let starts: [Int]

  /// Checks that the body is JSON and has no member but `items`.
  init(_ body: [UInt8], limits: JSONLimits) throws(JSONError) {
    var reader = JSONReader(body, limits: limits)
    guard reader.isUTF8 else { throw JSONError(.syntax("invalid UTF-8", offset: 0)) }
    var starts: [Int] = []
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        guard key == "items" else { throw JSONError(.unknownField) }
        try seen.insert(0, key)
        if try reader.readNull() { continue }
        try reader.beginArray()
        while try reader.nextElement() {
          starts.append(reader.position)
          do throws(JSONError) { try reader.passValue() } catch { throw error.inside("[\(starts.count - 1)]") }
        }
      } catch { throw error.inside(key) }
    }
    try reader.finish()
    self.starts = starts
    self.reader = JSONReader(body, limits: limits)
  }

  func read<Item: RPCMessage>(_ index: Int) throws(JSONError) -> Item {
    var reader = reader.moved(to: starts[index])
    return try Item(reading: &reader)
  }
}
