import OpflowCommandLine
import OpflowSystem

struct ShownPath {
  private let base: String?

  /// With `-C` the user is in another folder, so paths stay absolute.
  init(_ arguments: ViewArguments) {
    base = arguments.directory == nil ? try? Path.workingDirectory() : nil
  }

  func text(_ absolute: String) -> String {
    guard let base, base != "/", absolute.hasPrefix(base + "/") else { return absolute }
    return String(absolute.dropFirst(base.count + 1))
  }
}
