/// Where a token is entered.
struct SignInPage {
  let base: String
  let formToken: String
  /// Where the reader goes afterwards.
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

/// A page that is a sentence.
struct MessagePage {
  let layout: Layout
  let heading: String
  let text: String
}
