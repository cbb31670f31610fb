import Testing

@testable import notification_recovery

@Suite("Pages of lists by time")
struct PageTokenTests {
  @Test("a page token can be read back, and other text is invalid")
  func text() {
    let token = PageToken(moment: 1_790_000_000_000, offset: 3)
    #expect(PageToken(token.text) == token)
    for text in ["", "1", "1-", "-1-2", "1-2-3", "1--2", "1-1000001", "a-b", "1-2 "] { #expect(PageToken(text) == nil, "\(text)") }
  }

  @Test("the position after an entry counts the entries of its millisecond")
  func places() {
    let first = PageToken.after(9, previous: nil)
    let second = PageToken.after(9, previous: first)
    let third = PageToken.after(8, previous: second)
    #expect([first, second, third].map(\.text) == ["9-1", "9-2", "8-1"])
  }
}
