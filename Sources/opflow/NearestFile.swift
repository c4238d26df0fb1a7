import OpflowCore
import OpflowSystem

/// Finds the file that was likely meant by a path where nothing is.
enum NearestFile {
  /// - Parameter isWanted: of the names in the path's folder, those that may have been meant.
  /// - Returns: what to add to the message; empty where nothing is near.
  static func hint(_ path: String, where isWanted: (String) -> Bool = { _ in true }) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    // Of a hint nobody expects that it reads a folder of a million files.
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
