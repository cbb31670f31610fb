import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A unit of work of a recorded trace. Work of traces that are not recorded has no span. ``Tracer`` creates spans.
public final class Span: Sendable {
  /// The kind of the work, with OTLP's numbers.
  public enum Kind: Int, Sendable {
    case `internal` = 1
    case server, client, producer, consumer
  }

  private struct State {
    var attributes: [SpanAttribute]
    var hasEnded = false
  }

  /// The span of the current task; nil if its trace is not recorded, as those of most tasks.
  @TaskLocal public static var current: Span?

  public let context: SpanContext
  private let parentID: UInt64
  private let isParentRemote: Bool
  private let name: String
  private let kind: Kind
  /// The start, in nanoseconds since 1970.
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

  /// The present time, in nanoseconds since 1970.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// The `traceparent` of this span, for calls to other systems.
  public var traceparent: String { context.traceparent }

  /// Adds attributes. Has no effect after the end.
  public func set(_ attributes: SpanAttribute...) {
    state.withLock { if !$0.hasEnded { $0.attributes += attributes } }
  }

  /// Ends the span and passes it to the buffer. Only the first call has an effect.
  ///
  /// - Parameter error: the kind of error, one of a limited set of values (`error.type`); nil for success.
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

  /// A new span for work that is a part of this span's work.
  public func child(_ name: String, _ kind: Kind, _ attributes: [SpanAttribute] = []) -> Span {
    Span(
      name, kind, context: context.child(), parentID: context.spanID, isParentRemote: false, attributes: attributes, buffer: buffer,
      sinceStart: .zero)
  }
}
