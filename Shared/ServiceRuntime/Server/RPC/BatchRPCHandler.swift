public import AttributionProtocol
import WireJSON

/// A handler of a method whose request is `{"items": […]}` and whose response is `{"results": […]}`, with one result for each item, in the
/// order of the items.
///
/// The items are divided into chunks that run on all cores. A chunk is parsed, answered and encoded in one go, so that only the chunks
/// being processed are in memory as values; the other items are only bytes. An item that cannot be parsed gets an error as its result, and
/// does not fail the call.
public protocol BatchRPCHandler<Method>: RPCHandler {
  associatedtype Item: RPCMessage
  associatedtype ItemResult: RPCMessage
  associatedtype Resources: Sendable = Void

  /// Obtains what all items need, once for each call. An error fails the whole call.
  func resources(_ context: RPCContext) async throws(RPCError) -> Resources
  /// Answers one item.
  func respond(to item: Item, _ resources: Resources, _ context: RPCContext) async throws(RPCError) -> ItemResult
  /// Answers a chunk of the items, in order. By default each item is answered on its own.
  func respond(toChunk items: [Result<Item, RPCError>], _ resources: Resources, _ context: RPCContext) async
    -> [Result<ItemResult, RPCError>]
  /// The result for an item that failed with the error.
  func failure(_ error: RPCError) -> ItemResult
}

extension BatchRPCHandler where Resources == Void {
  public func resources(_ context: RPCContext) async throws(RPCError) {}
}

extension BatchRPCHandler {
  public func respond(toChunk items: [Result<Item, RPCError>], _ resources: Resources, _ context: RPCContext) async
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

  /// Required by ``RPCHandler``. The server calls the function on bytes instead (`handle(_:_:_:)`).
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let response = try await handle(request.json, JSONLimits(), context)
    do throws(JSONError) { return try Method.Response(json: response) } catch { throw .invalidArgument(error) }
  }
}

extension ItemError {
  /// The error of one item of a batch.
  public init(_ error: RPCError) {
    self.init(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field)
  }
}

/// The number of items of a chunk: large enough that creating tasks costs little, small enough that all cores end at about the same time.
private let itemsPerChunk = 16

extension BatchRPCHandler {
  func handle(_ body: [UInt8], _ limits: JSONLimits, _ context: RPCContext) async throws(RPCError) -> [UInt8] {
    let items: BatchItems
    do throws(JSONError) { items = try BatchItems(body, limits: limits) } catch { throw .invalidArgument(error) }
    guard items.starts.count <= context.limits.batchItems else {
      throw .invalidArgument(field: "items", "has more than \(context.limits.batchItems) items")
    }
    guard !items.starts.isEmpty else { return Array("{}".utf8) }
    let resources = try await resources(context)
    var chunks: [[UInt8]] = []
    if items.starts.count <= itemsPerChunk {
      chunks.append(await respond(to: items, 0..<items.starts.count, resources, context))
    } else {
      let count = (items.starts.count + itemsPerChunk - 1) / itemsPerChunk
      chunks = Array(repeating: [], count: count)
      await withTaskGroup(of: (Int, [UInt8]).self) { group in
        for chunk in 0..<count {
          let range = chunk * itemsPerChunk..<min((chunk + 1) * itemsPerChunk, items.starts.count)
          group.addTask { (chunk, await respond(to: items, range, resources, context)) }
        }
        for await (chunk, results) in group { chunks[chunk] = results }
      }
    }
    if Self.isAbandoned(context) { throw .timeIsOver }
    var writer = JSONWriter(reserving: chunks.reduce(64) { $0 + $1.count + 1 })
    writer.beginObject()
    writer.key("results")
    writer.beginArray()
    for chunk in chunks { writer.raw(chunk) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// True if nobody will get the response: the call was cancelled, and has no idempotency key under which a repeat could ask for it.
  private static func isAbandoned(_ context: RPCContext) -> Bool { Task.isCancelled && context.idempotencyKey == nil }

  /// Returns the encoded results of the items in the range.
  private func respond(to items: BatchItems, _ range: Range<Int>, _ resources: Resources, _ context: RPCContext) async -> [UInt8] {
    guard !Self.isAbandoned(context) else { return [] }
    let chunk: [Result<Item, RPCError>] = range.map { index in
      do throws(JSONError) { return .success(try items.read(index)) } catch { return .failure(.invalidArgument(error)) }
    }
    var writer = JSONWriter(reserving: range.count * 640)
    for result in await respond(toChunk: chunk, resources, context) {
      switch result {
      case .success(let result): result.write(to: &writer)
      case .failure(let error): failure(error).write(to: &writer)
      }
    }
    return writer.bytes
  }
}

/// The items of a batch by their offsets in its body. Each is parsed when it is read.
private struct BatchItems: Sendable {
  let reader: JSONReader
  let starts: [Int]

  /// Finds the items. Throws if the body is not JSON or has another field than `items`.
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
