import Testing
import WireJSON

@Suite("JSON objects")
struct JSONObjectTests {
  private func object(_ keys: [String], _ value: (String) -> JSONValue = { .string($0) }) -> JSONObject {
    JSONObject(keys.map { JSONObject.Member(key: $0, value: value($0)) })
  }

  @Test("two objects are equal if number, names and values of members are equal, in any order", arguments: [0, 1, 3, 16, 17, 40])
  func equality(count: Int) {
    let keys = (0..<count).map { "k\($0)" }
    let one = object(keys)
    #expect(one == object(keys) && one == object(keys.reversed()) && one == object(keys.shuffled()))
    #expect(one != object(keys + ["more"]))
    for index in keys.indices {
      var renamed = keys
      renamed[index] = "other"
      #expect(one != object(renamed) && one != object(renamed.reversed()))
      let changed = object(keys.reversed()) { $0 == keys[index] ? 1 : .string($0) }
      #expect(one != changed && one != object(keys) { $0 == keys[index] ? .null : .string($0) })
    }
  }

  @Test("names are compared by code points, even if they are canonically equivalent in Unicode", arguments: [1, 30])
  func exactNames(count: Int) {
    let others = (1..<count).map { "k\($0)" }
    let (kelvin, k) = ("\u{212A}", "K")
    func named(_ keys: [String]) -> JSONObject { object(keys) { _ in 1 } }
    #expect(named([kelvin] + others) != named([k] + others))
    #expect(named([kelvin] + others) != named(others + [k]))
    #expect(named([kelvin] + others) == named(others + [kelvin]))
  }

  @Test("large objects and nested objects in another order are compared in linear time", .timeLimit(.minutes(1)))
  func many() {
    let keys = (0..<200_000).map { "k\($0)" }
    #expect(object(keys) == object(keys.reversed()))
    #expect(object(keys) != object(keys.reversed()) { $0 == "k7" ? 7 : .string($0) })
    func nested(_ depth: Int, _ isReversed: Bool) -> JSONValue {
      let inner: JSONValue = depth == 0 ? 1 : nested(depth - 1, isReversed)
      let members = ["a", "b"].map { JSONObject.Member(key: $0, value: $0 == "a" ? inner : 2) }
      return .object(JSONObject(isReversed ? members.reversed() : members))
    }
    // Two comparisons for each level would be a trillion comparisons.
    #expect(nested(40, false) == nested(40, true))
  }
}
