import Cryptography
import Synchronization

/// Decides whether the traces of requests and messages are recorded, and creates their spans. There is one tracer for each process. Without
/// a buffer it records nothing, but still makes contexts: a child of the caller's, or a new trace.
///
/// The server calls ``context(childOf:trustsSampled:)`` for a request, and then `span` with that context. Code that works on a message
/// calls `span` with the message's `traceparent`. ``Span/child(_:_:_:)`` makes a span for a part of the work.
public final class Tracer: Sendable {
  /// A tracer that records nothing.
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
  ///   - parent: the caller's context; nil if the caller sent none, or an invalid one.
  ///   - trustsSampled: called if the caller requests that its trace is recorded. Returns true if the request is to be followed.
  public func context(childOf parent: SpanContext?, trustsSampled: () -> Bool = { true }) -> SpanContext {
    guard let parent else {
      // `| 1`, because the ids of a trace and of a span must not be zero.
      let words = RandomBytes.words()
      let trace = TraceID(high: words.1 | 1, low: words.2)
      let isSampled = isRecording && sampler.samples(trace)
      return SpanContext(
        traceID: trace, spanID: words.0 | 1, flags: SpanContext.randomFlag | (isSampled ? SpanContext.sampledFlag : 0))
    }
    let child = parent.child()
    guard isRecording else { return child }
    guard sampler.followsParent else { return child.sampled(sampler.samples(child.traceID)) }
    // If the request is not followed, the ratio does not decide instead, because an outsider could choose an id that is recorded.
    return parent.isSampled && !trustsSampled() ? child.sampled(false) : child
  }

  /// A span with a context of ``context(childOf:trustsSampled:)``; nil if its trace is not recorded.
  ///
  /// - Parameters:
  ///   - parent: the caller's context; nil if there is none.
  ///   - sinceStart: the time since the work began, which the span includes.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, _ context: SpanContext, childOf parent: SpanContext?,
    _ attributes: @autoclosure () -> [SpanAttribute] = [], sinceStart: @autoclosure () -> Duration = .zero
  ) -> Span? {
    guard context.isSampled, let buffer else { return nil }
    return Span(
      name(), kind, context: context, parentID: parent?.spanID ?? 0, isParentRemote: parent != nil, attributes: attributes(),
      buffer: buffer,
      sinceStart: sinceStart())
  }

  /// A span for work on a message or an event whose context is `parent`; nil if its trace is not recorded.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, childOf parent: SpanContext?,
    _ attributes: @autoclosure () -> [SpanAttribute] = []
  ) -> Span? {
    guard let parent, parent.isSampled, buffer != nil else { return nil }
    return span(name(), kind, parent.child(), childOf: parent, attributes())
  }

  /// A span for work on a message or an event whose `traceparent` is given; nil if its trace is not recorded.
  ///
  /// Most traces are not recorded, so the sampled flag is checked before the text is parsed. In version 00 the flag is in the last digit. A
  /// text of a later version may end with other fields; then there may be no span although the trace is recorded.
  public func span(
    _ name: @autoclosure () -> String, _ kind: Span.Kind, childOf traceparent: String?,
    _ attributes: @autoclosure () -> [SpanAttribute] = []
  ) -> Span? {
    // An odd digit has an odd character code if it is 1 to 9, and an even code if it is b, d or f.
    guard buffer != nil, let traceparent, let last = traceparent.utf8.last, last & 1 == (last >= 97 ? 0 : 1),
      let parent = SpanContext(traceparent: traceparent)
    else { return nil }
    return span(name(), kind, childOf: parent, attributes())
  }
}
