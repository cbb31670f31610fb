import Yams

/// The nodes of a configuration file, from which ``ConfigurationCheck`` removes faulty parts to check the rest. After a removal, the paths
/// of later list elements differ from those in the file; ``original(_:)`` translates them.
struct ConfigurationTree {
  enum Step: Hashable {
    case member(String)
    case element(Int)
  }

  private(set) var root: Node
  /// For each list from which elements were removed, by its original path: the original indices of the remaining elements.
  private var originalIndices: [[Step]: [Int]] = [:]

  init(_ root: Node) { self.root = root }

  /// The steps of a path such as `apps[0].bundleId` as far as they exist, and whether all of them exist. Keys may contain dots.
  func steps(to path: String) -> (found: [Step], isComplete: Bool) {
    var (node, steps, rest) = (root, [Step](), path[...])
    while !rest.isEmpty {
      if rest.hasPrefix("."), !rest.dropFirst().isEmpty { rest = rest.dropFirst() }
      if rest.hasPrefix("["), let end = rest.firstIndex(of: "]"), let index = Int(rest.dropFirst()[..<end]), let list = node.sequence,
        list.indices.contains(index)
      {
        node = list[index]
        steps.append(.element(index))
        rest = rest[rest.index(after: end)...]
        continue
      }
      let members = (node.mapping ?? [:]).compactMap { key, value in key.scalar.map { (name: $0.string, value: value) } }
      // The longest matching key is taken: `a.b` before `a`.
      let found = members.filter { member in
        guard !member.name.isEmpty, rest.hasPrefix(member.name) else { return false }
        let remainder = rest.dropFirst(member.name.count)
        return remainder.isEmpty || remainder.hasPrefix(".") || remainder.hasPrefix("[")
      }.max { $0.name.count < $1.name.count }
      guard let found else { return (steps, false) }
      rest = rest.dropFirst(found.name.count)
      node = found.value
      steps.append(.member(found.name))
    }
    return (steps, true)
  }

  /// The position of the value at the end of the steps if they are a complete path, otherwise of the last key or list element that exists.
  func mark(at steps: [Step], isComplete: Bool) -> Mark? {
    var (node, mark) = (root, root.mark)
    for (index, step) in steps.enumerated() {
      switch step {
      case .element(let number):
        guard let list = node.sequence, list.indices.contains(number) else { return mark }
        node = list[number]
        mark = node.mark
      case .member(let name):
        guard let member = node.mapping?.first(where: { $0.key.scalar?.string == name }) else { return mark }
        node = member.value
        mark = isComplete && index + 1 == steps.count ? node.mark : member.key.mark
      }
    }
    return mark
  }

  /// The path in the file, before any removal, of what is at `path` now.
  func original(_ path: String) -> String {
    guard !originalIndices.isEmpty else { return path }
    // Only existing steps can be translated. The part of the path that does not exist is appended unchanged.
    let steps = steps(to: path).found
    let rest = path.dropFirst(Self.text(steps).count)
    return Self.text(original(steps)) + rest
  }

  private func original(_ steps: [Step]) -> [Step] {
    var original: [Step] = []
    for step in steps {
      if case .element(let number) = step, let indices = originalIndices[original] {
        original.append(.element(indices[number]))
      } else {
        original.append(step)
      }
    }
    return original
  }

  /// Removes the node at the end of the steps. Returns false if there are no steps, because the whole file cannot be removed.
  mutating func remove(_ steps: [Step]) -> Bool {
    guard let last = steps.last else { return false }
    if case .element(let number) = last {
      let list = original(Array(steps.dropLast()))
      let count = node(at: steps.dropLast())?.sequence?.count ?? 0
      var indices = originalIndices[list] ?? Array(0..<count)
      indices.remove(at: number)
      originalIndices[list] = indices
    }
    root = Self.removing(steps[...], from: root)
    return true
  }

  private func node(at steps: some Sequence<Step>) -> Node? {
    var node: Node? = root
    for step in steps {
      switch step {
      case .element(let number): node = node?.sequence.flatMap { $0.indices.contains(number) ? $0[number] : nil }
      case .member(let name): node = node?.mapping?.first { $0.key.scalar?.string == name }?.value
      }
    }
    return node
  }

  private static func removing(_ steps: ArraySlice<Step>, from node: Node) -> Node {
    guard let step = steps.first else { return node }
    switch (node, step) {
    case (.mapping(let mapping), .member(let name)):
      let members = mapping.compactMap { key, value -> (Node, Node)? in
        guard key.scalar?.string == name else { return (key, value) }
        return steps.count == 1 ? nil : (key, removing(steps.dropFirst(), from: value))
      }
      return .mapping(Node.Mapping(members, mapping.tag, mapping.style, mapping.mark))
    case (.sequence(let sequence), .element(let number)):
      let elements = sequence.enumerated().compactMap { index, element -> Node? in
        guard index == number else { return element }
        return steps.count == 1 ? nil : removing(steps.dropFirst(), from: element)
      }
      return .sequence(Node.Sequence(elements, sequence.tag, sequence.style, sequence.mark))
    default: return node
    }
  }

  static func text(_ steps: [Step]) -> String {
    steps.reduce(into: "") { text, step in
      switch step {
      case .member(let name): text += text.isEmpty ? name : "." + name
      case .element(let number): text += "[\(number)]"
      }
    }
  }
}
