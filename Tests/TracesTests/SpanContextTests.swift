import Testing

@testable import Traces

@Suite struct SpanContextTests {
  let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  @Test func `A header can be parsed and written unchanged`() throws {
    for text in [parent, "00-00000000000000000000000000000001-0000000000000001-ff"] {
      #expect(try #require(SpanContext(traceparent: text)).traceparent == text)
    }
    #expect(try #require(SpanContext(traceparent: parent)).traceID.text == "0af7651916cd43dd8448eb211c80319c")
  }

  @Test func `The known part of a later version is used`() throws {
    let later = try #require(SpanContext(traceparent: "cc" + parent.dropFirst(2) + "-what-comes-then"))
    #expect(later.traceparent == parent)
    #expect(SpanContext(traceparent: "cc" + parent.dropFirst(2) + "x") == nil)
  }

  @Test(arguments: [
    "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  ])
  func `An invalid header is refused`(_ text: String) { #expect(SpanContext(traceparent: text) == nil) }

  @Test func `A valid parent is continued with a new span and the same flags`() throws {
    let context = try #require(SpanContext(traceparent: parent))
    let child = Tracer.off.context(childOf: context)
    #expect(child.traceID == context.traceID && child.spanID != context.spanID && child.spanID != 0)
    #expect(child.flags == context.flags)
    let root = Tracer.off.context(childOf: nil)
    #expect(SpanContext(traceparent: root.traceparent) == root && !root.isSampled)
  }
}

@Suite struct SamplingTests {
  private func tracer(_ sampler: Sampler) -> Tracer { Tracer(sampler: sampler, buffer: SpanBuffer(capacity: 10, maxBatchSize: 10)) }
  private func parent(sampled: Bool) -> SpanContext {
    SpanContext(traceID: TraceID(high: 1, low: 2), spanID: 3, flags: sampled ? 1 : 0)
  }

  @Test func `A caller's decision is followed, whatever the rate`() {
    for ratio in [0.0, 1.0] {
      let tracer = tracer(Sampler(ratio: ratio))
      #expect(tracer.context(childOf: parent(sampled: true)).isSampled)
      #expect(!tracer.context(childOf: parent(sampled: false)).isSampled)
      #expect(!tracer.context(childOf: parent(sampled: true), trustsSampled: { false }).isSampled)
      #expect(tracer.context(childOf: nil).isSampled == (ratio == 1))
    }
    #expect(tracer(Sampler(followsParent: false, ratio: 1)).context(childOf: parent(sampled: false)).isSampled)
    #expect(!tracer(Sampler(followsParent: false, ratio: 0)).context(childOf: parent(sampled: true)).isSampled)
  }

  @Test func `The requested share of traces is recorded`() {
    let tracer = tracer(Sampler(ratio: 0.25))
    let sampled = (0..<20_000).count { _ in tracer.context(childOf: nil).isSampled }
    // The expected number, plus or minus six standard deviations.
    #expect((4632...5368).contains(sampled))
  }

  @Test func `Every service has the same decision about a trace`() {
    let sampler = Sampler(ratio: 0.5)
    for low in stride(from: UInt64(0), to: .max - (1 << 60), by: 1 << 60) {
      #expect(sampler.samples(TraceID(high: 1, low: low)) == sampler.samples(TraceID(high: 9, low: low)))
    }
    #expect(!Sampler(ratio: 0).samples(TraceID(high: 1, low: 0)))
    #expect(Sampler(ratio: 1).samples(TraceID(high: 1, low: .max)))
  }
}

@Suite struct SpanTests {
  @Test func `The last digit of a message's header decides whether its span is recorded`() throws {
    let buffer = SpanBuffer(capacity: 10, maxBatchSize: 10)
    let tracer = Tracer(sampler: Sampler(ratio: 0), buffer: buffer)
    let start = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"
    for digit in "0123456789abcdef" {
      let span = tracer.span("work", .consumer, childOf: start + String(digit))
      #expect((span != nil) == (digit.hexDigitValue! % 2 == 1), "\(digit)")
    }
    #expect(tracer.span("work", .consumer, childOf: nil as String?) == nil)
    #expect(Tracer.off.span("work", .consumer, childOf: start + "1") == nil)
  }

  @Test func `An exported span has its parent, times and attributes, and is exported once`() throws {
    let buffer = SpanBuffer(capacity: 10, maxBatchSize: 10)
    let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: buffer)
    let context = tracer.context(childOf: nil)
    let span = try #require(tracer.span("GET", .server, context, childOf: nil, [SpanAttribute("a", "b")], sinceStart: .seconds(1)))
    let child = span.child("call", .client)
    child.end(error: "timeout")
    span.set(SpanAttribute("n", 5))
    span.end(SpanAttribute("f", true))
    span.end(error: "again")
    span.set(SpanAttribute("late", 1))
    let finished = buffer.take()
    #expect(finished.map(\.name) == ["call", "GET"])
    #expect(finished[0].parentID == context.spanID && !finished[0].isParentRemote && finished[0].isError)
    #expect(finished[0].context.traceID == context.traceID)
    #expect(finished[1].parentID == 0 && !finished[1].isError)
    #expect(finished[1].attributes == [SpanAttribute("a", "b"), SpanAttribute("n", 5), SpanAttribute("f", true)])
    #expect(finished[1].ended - finished[1].started >= 1_000_000_000)
    #expect(buffer.count == 0)
  }

  @Test func `A text is shortened to the maximum length`() {
    let attribute = SpanAttribute("a", String(repeating: "ü", count: 1000))
    guard case .text(let text) = attribute.value else { return #expect(Bool(false)) }
    #expect(text.count == SpanAttribute.maxTextLength)
  }

  @Test func `Spans without room are dropped and counted, and a full batch is signalled`() async {
    let buffer = SpanBuffer(capacity: 5, maxBatchSize: 2)
    let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: buffer)
    for _ in 0..<8 { tracer.span("w", .internal, tracer.context(childOf: nil), childOf: nil)?.end() }
    #expect(buffer.count == 5 && buffer.dropped == 3)
    #expect(buffer.take().count == 2 && buffer.take().count == 2 && buffer.take().count == 1)
    var signals = buffer.signals.makeAsyncIterator()
    #expect(await signals.next() != nil)
  }

  @Test(arguments: [
    ("https://example.com/path?q=1", "example.com", 443), ("http://a.b:8080", "a.b", 8080), ("https://user:secret@Host/x", "host", 443),
    ("http://[::1]:90/x", "::1", 90), ("https://[fe80::1]", "fe80::1", 443),
  ])
  func `The host and port of a URL are recorded`(_ url: String, _ host: String, _ port: Int) {
    let server = URLServer(url)
    #expect(server?.host == host && server?.port == port)
    #expect(URLServer("ftp://x") == nil && URLServer("https://") == nil && URLServer("https://a:b") == nil)
  }
}
