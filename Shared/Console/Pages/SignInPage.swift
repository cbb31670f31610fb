/// The page for entering a token.
struct SignInPage {
  let base: String
  let formToken: String
  /// The path to which the user is sent after signing in.
  let next: String
  let error: String
  let hasError: Bool
  let version: String

  init(base: String, formToken: String, next: String, error: String = "", version: String) {
    self.base = base
    self.formToken = formToken
    self.next = next
    self.error = error
    hasError = !error.isEmpty
    self.version = version
  }
}

/// A page that shows only a message, such as that a page does not exist.
struct MessagePage {
  let layout: Layout
  let heading: String
  let text: String
}
