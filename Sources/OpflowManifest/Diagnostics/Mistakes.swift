/// Collects what is wrong with a manifest, in whatever order it is found.
final class Mistakes {
  /// One thing that is wrong, at an offset in the manifest.
  struct Mistake {
    var severity: Diagnostic.Severity
    var place: Int?
    var message: String
    var help: String?
    /// Further places that belong to it, in order.
    var notes: [(place: Int, message: String)] = []
    /// What stands for the file where the mistake is not in it, such as `--set NAME`.
    var origin: String?
  }

  private(set) var all: [Mistake] = []
  private(set) var errorCount = 0
  /// Places of nodes that are wrong as YAML: nothing more is said of what they hold.
  private var settledPlaces: [Int] = []
  /// Levels of code that reads a second time what it reported on before.
  private var muted = 0

  /// Beyond this, mistakes are counted only.
  private static let keptCount = 1000

  func error(
    _ place: Int, _ message: @autoclosure () -> String,
    help: @autoclosure () -> String? = nil
  ) {
    add(severity: .error, place: place, message: message, help: help)
  }

  func warning(
    _ place: Int, _ message: @autoclosure () -> String,
    help: @autoclosure () -> String? = nil
  ) {
    add(severity: .warning, place: place, message: message, help: help)
  }

  /// Lets the mistake that was reported be the last one at `place`.
  func settle(_ place: Int) { settledPlaces.append(place) }

  func add(_ mistake: Mistake) {
    if muted > 0 { return }
    if mistake.severity == .error { errorCount += 1 }
    if all.count < Self.keptCount { all.append(mistake) }
  }

  /// Nothing is reported until `unmute`.
  func mute() { muted += 1 }
  func unmute() { muted -= 1 }

  private func add(
    severity: Diagnostic.Severity, place: Int, message: () -> String, help: () -> String?
  ) {
    if muted > 0 || settledPlaces.contains(place) { return }
    guard all.count < Self.keptCount else {
      if severity == .error { errorCount += 1 }
      return
    }
    let message = message()
    // What an anchor holds is read once for each alias to it.
    if all.contains(where: { $0.place == place && $0.message == message }) { return }
    add(Mistake(severity: severity, place: place, message: message, help: help()))
  }
}
