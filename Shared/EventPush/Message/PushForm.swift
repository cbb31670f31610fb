/// The form in which an endpoint receives events.
public enum PushForm: String, Sendable, Hashable, CaseIterable {
  /// CloudEvents' structured mode: the event as one JSON document.
  case structured
  /// CloudEvents' binary mode: the attributes in headers, the data as the body.
  case binary
  /// The bytes and the content type that Apple sent.
  case original
}
