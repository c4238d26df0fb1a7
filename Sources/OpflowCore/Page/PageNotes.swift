/// Why tasks stand where they do, in words: each text once, since of many tasks the same is to be said.
struct PageNotes {
  /// The first one is empty: nothing is to be said.
  private(set) var texts = [""]
  /// By number in the page.
  private let numbers: [Int32]
  /// What is left for texts, in bytes; tasks that have none then keep their states.
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
