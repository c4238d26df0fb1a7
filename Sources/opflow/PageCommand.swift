import OpflowCommandLine
import OpflowManifest

/// The manual pages, for packaging.
enum PageCommand {
  static let word = "__man"

  /// `words` are the page and perhaps its date.
  static func write(_ words: [String]) -> Int32 {
    let date = words.dropFirst().first ?? ""
    let text: String
    switch words.first {
    case "opflow": text = CommandPage.text(date: date)
    case "opflow.yaml": text = ManifestPage.text(date: date)
    default: return ExitCode.usage.rawValue
    }
    do throws(CommandError) {
      try Console.write(text)
      return ExitCode.success.rawValue
    } catch {
      Console.complain(error.text)
      return error.code.rawValue
    }
  }
}
