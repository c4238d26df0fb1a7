import OpflowCommandLine
import OpflowCore
import OpflowSystem

/// Paths as they are shown to a person: from the folder that the person is in, where that is shorter.
struct ShownPath {
  private let base: String?

  /// With `-C` the person is elsewhere, and paths stay absolute.
  init(_ arguments: ViewArguments) {
    base = arguments.directory == nil ? try? Path.workingDirectory() : nil
  }

  func text(_ absolute: String) -> String {
    guard let base, base != "/", absolute.hasPrefix(base + "/") else { return absolute }
    return String(absolute.dropFirst(base.count + 1))
  }
}
