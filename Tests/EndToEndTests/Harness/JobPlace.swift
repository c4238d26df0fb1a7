import Foundation

extension Workplace {
  /// A place with a copy of a manifest of `jobs`, so that a run leaves nothing in the repository.
  static func ofJob(_ job: String) throws -> Workplace {
    let text = try String(contentsOfFile: Program.package + "/jobs/" + job, encoding: .utf8)
    let place = try Workplace(text)
    // Its included files are in a folder of the same name.
    let folder = Program.package + "/jobs/" + job.dropLast(5)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let file = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      try place.write("\(folder.split(separator: "/").last ?? "")/\(name)", file)
    }
    return place
  }
}
