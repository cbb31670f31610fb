/// The format of the requests to an endpoint. It is named after the field `form` of the contract's `PushEndpoint`.
public enum PushForm: String, Sendable, Hashable, CaseIterable {
  /// CloudEvents' structured mode: the event as one JSON document.
  case structured
  /// CloudEvents' binary mode: the attributes in headers, the data as the body.
  case binary
  /// The bytes and the content type that Apple sent, in place of the event.
  case original
}
