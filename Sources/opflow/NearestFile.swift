internal import OpflowBase
import OpflowSystem

enum NearestFile {
  /// Suggests a similar path for a missing file; empty for none.
  static func hint(_ path: String, where isWanted: (String) -> Bool = { _ in true }) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    // A hint must not scan a million files.
    guard !name.isEmpty, let all = try? Path.names(in: Path.parent(of: path)) else { return "" }
    let names = all.prefix(10_000).filter(isWanted).sorted()
    guard let nearest = NearestName.of(name, among: names) else { return "" }
    let before = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    return "; did you mean `\(CleanText.string(before + nearest))`?"
  }

  static func isManifest(_ name: String) -> Bool {
    name.hasSuffix(".yaml") || name.hasSuffix(".yml")
  }
}
