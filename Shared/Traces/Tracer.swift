import Cryptography
import Synchronization

/// Begins spans. There is one for each process. Without a buffer it only passes on callers' contexts.
public final class Tracer: Sendable {
  /// Records nothing.
  public static let off = Tracer(sampler: Sampler(ratio: 0), buffer: nil)

  private let sampler: Sampler
  private let buffer: SpanBuffer?

  public init(sampler: Sampler, buffer: SpanBuffer?) {
    self.sampler = sampler
    self.buffer = buffer
  }

  /// True if spans are recorded.
  public var isRecording: Bool { buffer != nil }

  /// The context of a request's work: a span of the caller's trace, or of a new one.
  ///
  /// - Parameters:
  ///   - parent: the caller's context, if it is valid.
  ///   - believesSampled: returns true if a caller's request to record its trace is followed.
  public func context(below parent: SpanContext?, believesSampled: () -> Bool = { true }) -> SpanContext {
    guard let parent else {
      let words = RandomBytes.words()
      let trace = TraceID(high: words.1 | 1, low: words.2)
      let isSampled = isRecording && sampler.samples(trace)
      return SpanContext(
        traceID: trace, spanID: words.0 | 1, flags: SpanContext.randomFlag | (isSampled ? SpanContext.sampledFlag : 0))
    }
    let child = parent.child()
    guard isRecording else { return child }
    guard sampler.followsParent else { return child.sampled(sampler.samples(child.traceID)) }
    // The id does not decide here, because a stranger could choose one that is recorded.
    return parent.isSampled && !believesSampled() ? child.sampled(false) : child
  }

  /// The span of a context; nil if its trace is not recorded.
  ///
  /// - Parameter sinceStart: the time since the work began.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, _ context: SpanContext, below parent: SpanContext?,
    _ attributes: @autoclosure () -> [SpanAttribute] = [], sinceStart: @autoclosure () -> Duration = .zero
  ) -> Span? {
    guard context.isSampled, let buffer else { return nil }
    return Span(
      name(), kind, context: context, parentID: parent?.spanID ?? 0, isParentRemote: parent != nil, attributes: attributes(),
      buffer: buffer,
      sinceStart: sinceStart())
  }

  /// The span of a message's or an event's work; nil if its trace is not recorded.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, below parent: SpanContext?, _ attributes: @autoclosure () -> [SpanAttribute] = []
  ) -> Span? {
    guard let parent, parent.isSampled, buffer != nil else { return nil }
    return span(name(), kind, parent.child(), below: parent, attributes())
  }

  /// The span below the parent in a header or a message; nil if the parent is not sampled. Most parents are not, so the last digit, which
  /// has the sampled flag, is read before anything else.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, below traceparent: String?,
    _ attributes: @autoclosure () -> [SpanAttribute] = []
  ) -> Span? {
    guard buffer != nil, let traceparent, let last = traceparent.utf8.last, last & 1 == (last >= 97 ? 0 : 1),
      let parent = SpanContext(traceparent: traceparent)
    else { return nil }
    return span(name(), kind, below: parent, attributes())
  }
}
