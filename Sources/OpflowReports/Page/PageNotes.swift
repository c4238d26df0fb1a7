internal import OpflowCore
internal import OpflowViews

/// The reasons for the states of tasks, each text stored once.
struct PageNotes {
  /// Starts with an empty text.
  private(set) var texts = [""]
  private let numbers: [Int32]
  /// The remaining bytes; later tasks get no text.
  private var room = 400_000

  private static let longest = 300

  init(_ status: RunStatus, _ tasks: PageNumbers) {
    var places: [String: Int32] = ["": 0]
    var numbers: [Int32] = []
    numbers.reserveCapacity(tasks.tasks.count)
    for task in tasks.tasks {
      let text = Self.text(task, status)
      if let place = places[text] {
        numbers.append(place)
        continue
      }
      room -= text.utf8.count
      guard room > 0 else {
        numbers.append(0)
        continue
      }
      let place = Int32(truncatingIfNeeded: texts.count)
      texts.append(text)
      places[text] = place
      numbers.append(place)
    }
    self.numbers = numbers
  }

  func number(of task: Int) -> Int32 { numbers[task] }

  private static func text(_ task: TaskID, _ status: RunStatus) -> String {
    var text = TaskVerdict.reason(task, status).message
    if let rerun = status.history.details.reruns[task] {
      text += text.isEmpty ? "" : "; "
      text += "the newest resume ran it again: \(ReasonText.text(.rerun(rerun), plan: status.plan))"
    }
    let clean = CleanText.string(text)
    return clean.count > longest ? "\(clean.prefix(longest))…" : clean
  }
}
