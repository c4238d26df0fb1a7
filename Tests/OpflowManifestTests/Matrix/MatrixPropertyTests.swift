import OpflowBase
import OpflowManifest
import Testing

/// Random matrices, expanded by the compiler and by a few lines that make all combinations of names
/// and texts and take away what is to go.
struct MatrixPropertyTests {
  private typealias Instance = [String: String]

  private struct Simulated {
    /// The names in IDs, in their order.
    var naming: [String] = []
    var names: [String] = []
    var lines: [String] = []
    var instances: [Instance] = [[:]]
    var files: [String: String] = [:]

    mutating func multiply(_ rows: [Instance]) {
      instances = instances.flatMap { instance in rows.map { instance.merging($0) { a, _ in a } } }
    }

    func id(_ instance: Instance) -> String {
      let parts = naming.map { name -> String in
        let value = (instance[name] ?? "").utf8.map { byte -> String in
          let isPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@:/"
            .utf8.contains(byte)
          let digits = String(byte, radix: 16, uppercase: true)
          return isPlain
            ? String(UnicodeScalar(byte)) : "%" + (digits.count < 2 ? "0" : "") + digits
        }
        return name + "=" + value.joined()
      }
      return "t[" + parts.joined(separator: ",") + "]"
    }
  }

  private static let values = [
    "a", "b", "3.10", "x y", "é", "1", "01", "yes", "a,b", "50%", "k=v", "[z]",
  ]

  private func imagine(_ random: inout SplitMix64) -> Simulated {
    var matrix = Simulated()
    let axes = Int.random(in: 1...3, using: &random)
    let rowsAt = Int.random(in: 0...5, using: &random)
    for axis in 0..<axes {
      if axis == rowsAt {
        addRows(to: &matrix, &random)
        continue
      }
      let name = "n\(axis)"
      matrix.naming.append(name)
      matrix.names.append(name)
      switch Int.random(in: 0...3, using: &random) {
      case 0:
        let first = Int.random(in: -3...3, using: &random)
        let last = first + Int.random(in: 0...3, using: &random)
        matrix.lines.append("\(name): { range: [\(first), \(last)] }")
        matrix.multiply((first...last).map { [name: "\($0)"] })
      case 1:
        let some = pick(&random)
        matrix.files["lines\(axis)"] = some.map { latin($0) + "\n" }.joined()
        matrix.lines.append("\(name): { lines: lines\(axis) }")
        matrix.multiply(some.map { [name: $0] })
      default:
        let some = pick(&random)
        matrix.lines.append("\(name): [\(some.map { "'\($0)'" }.joined(separator: ", "))]")
        matrix.multiply(some.map { [name: $0] })
      }
    }
    exclude(from: &matrix, &random)
    include(in: &matrix, &random)
    return matrix
  }

  private func pick(_ random: inout SplitMix64) -> [String] {
    Array(Self.values.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
  }

  /// The bytes of a text, as the tests' files have them.
  private func latin(_ text: String) -> String {
    String(String.UnicodeScalarView(text.utf8.map { UnicodeScalar($0) }))
  }

  private func addRows(to matrix: inout Simulated, _ random: inout SplitMix64) {
    let rows = pick(&random).map { ["s": $0, "d": pick(&random)[0]] }
    matrix.naming.append("s")
    matrix.names += ["s", "d"]
    if Bool.random(using: &random) {
      matrix.files["rows.tsv"] =
        "s\td\n" + rows.map { latin("\($0["s"] ?? "")\t\($0["d"] ?? "")\n") }.joined()
      matrix.lines.append("rows: rows.tsv")
    } else {
      let maps = rows.map { "{ s: '\($0["s"] ?? "")', d: '\($0["d"] ?? "")' }" }
      matrix.lines.append("rows: [\(maps.joined(separator: ", "))]")
    }
    matrix.multiply(rows)
  }

  private func exclude(from matrix: inout Simulated, _ random: inout SplitMix64) {
    var items: [Instance] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      guard let instance = matrix.instances.randomElement(using: &random) else { return }
      let item = instance.filter { _ in Bool.random(using: &random) }
      let isLeft = matrix.instances.contains { instance in
        item.contains { instance[$0.key] != $0.value }
      }
      if item.isEmpty || !isLeft { continue }
      items.append(item)
      matrix.instances.removeAll { instance in item.allSatisfy { instance[$0.key] == $0.value } }
    }
    add("exclude", items, to: &matrix)
  }

  private func include(in matrix: inout Simulated, _ random: inout SplitMix64) {
    var items: [Instance] = []
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      var instance: Instance = [:]
      for name in matrix.names { instance[name] = pick(&random)[0] }
      let isThere = matrix.instances.contains { other in
        matrix.naming.allSatisfy { other[$0] == instance[$0] }
      }
      if isThere { continue }
      items.append(instance)
      matrix.instances.append(instance)
    }
    add("include", items, to: &matrix)
  }

  private func add(_ key: String, _ items: [Instance], to matrix: inout Simulated) {
    if items.isEmpty { return }
    let maps = items.map { item in
      "{ " + item.map { "\($0.key): '\($0.value)'" }.joined(separator: ", ") + " }"
    }
    matrix.lines.append("\(key): [\(maps.joined(separator: ", "))]")
  }

  @Test(arguments: 0..<300)
  func `a matrix makes a task for each combination`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let matrix = imagine(&random)
    let wanted = matrix.names.map { "'${{ matrix.\($0) }}'" }.joined(separator: ", ")
    let join = matrix.naming[0]
    let text = """
      tasks:
        t: { run: [x, \(wanted)], matrix: { \(matrix.lines.joined(separator: ", ")) } }
        u: { run: x, needs: ["t[\(join)]"], matrix: { \(matrix.lines.joined(separator: ", ")) } }
        all: { run: x, needs: t }
      """
    let plan = try plan(text, files: matrix.files)
    let ids = matrix.instances.map { matrix.id($0) }
    #expect(plan.ids == ids + ids.map { "u" + $0.dropFirst() } + ["all"], "\(text)")
    for instance in matrix.instances {
      #expect(
        try plan.wordTexts(matrix.id(instance)) == ["x"] + matrix.names.map { instance[$0] ?? "" },
        "\(text)")
      let partners = matrix.instances.filter { $0[join] == instance[join] }
      #expect(
        try plan.needTexts("u" + matrix.id(instance).dropFirst())
          == partners.map { matrix.id($0) + " on success" }, "\(text)")
    }
    #expect(try plan.needTexts("all") == ids.map { "\($0) on success" })
  }
}
