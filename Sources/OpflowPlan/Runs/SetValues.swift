/// The last value of a name counts; the order of names does not matter.
package enum SetValues {
  /// One `NAME=VALUE` per name, sorted.
  package static func normal(_ values: [String]) -> [String] {
    if values.count < 2 { return values }
    var last: [String: String] = [:]
    for value in values { last[name(value)] = value }
    return last.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func name(_ value: String) -> String {
    String(decoding: value.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }
}
