import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A piece of work of a trace that is recorded. There is none for work that is not.
public final class Span: Sendable {
  /// As OTLP numbers them.
  public enum Kind: Int, Sendable {
    case `internal` = 1
    case server, client, producer, consumer
  }

  private struct State {
    var attributes: [SpanAttribute]
    var hasEnded = false
  }

  /// The span whose work the present task does; nil for most, whose traces are not recorded.
  @TaskLocal public static var current: Span?

  public let context: SpanContext
  private let parentID: UInt64
  private let isParentRemote: Bool
  private let name: String
  private let kind: Kind
  /// Nanoseconds since 1970.
  private let started: Int64
  private let buffer: SpanBuffer
  private let state: Mutex<State>

  init(
    _ name: String, _ kind: Kind, context: SpanContext, parentID: UInt64, isParentRemote: Bool, attributes: [SpanAttribute],
    buffer: SpanBuffer, sinceStart: Duration
  ) {
    self.name = name
    self.kind = kind
    self.context = context
    self.parentID = parentID
    self.isParentRemote = isParentRemote
    self.buffer = buffer
    started = Self.now - Int64(max(.zero, sinceStart) / .nanoseconds(1))
    state = Mutex(State(attributes: attributes))
  }

  /// Nanoseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// The `traceparent` of this span, for what it causes elsewhere.
  public var traceparent: String { context.traceparent }

  public func set(_ attributes: SpanAttribute...) {
    state.withLock { if !$0.hasEnded { $0.attributes += attributes } }
  }

  /// Ends it and hands it over; only the first end counts.
  ///
  /// - Parameter error: a bounded word for what went wrong (`error.type`).
  public func end(_ attributes: SpanAttribute..., error: String? = nil) {
    let all: [SpanAttribute]? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      state.attributes += attributes
      if let error { state.attributes.append(SpanAttribute("error.type", error)) }
      return state.attributes
    }
    guard let all else { return }
    buffer.add(
      FinishedSpan(
        context: context, parentID: parentID, isParentRemote: isParentRemote, name: name, kind: kind, started: started,
        ended: max(started, Self.now), attributes: all, isError: error != nil))
  }

  /// A span of work that this one caused.
  public func child(_ name: String, _ kind: Kind, _ attributes: [SpanAttribute] = []) -> Span {
    Span(
      name, kind, context: context.child(), parentID: context.spanID, isParentRemote: false, attributes: attributes, buffer: buffer,
      sinceStart: .zero)
  }
}
