package import OpflowPlan
package import OpflowReports
internal import OpflowSystem

extension RunFolder {
  /// The last bytes of a task's log. `shown` formats its path for the user.
  package func output(
    of task: TaskID, in plan: Plan, atMost count: Int, shown: (String) -> String
  ) -> ReportedOutput? {
    let path = log(of: task, in: plan)
    guard let file = try? File.openRegular(path, .readOnly),
      let size = try? file.status().sizeBytes
    else { return nil }
    let start = max(0, size - Int64(count))
    var bytes = [UInt8](repeating: 0, count: Int(size - start))
    // The log may be truncated meanwhile.
    let read = try? bytes.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
      var done = 0
      while done < room.count {
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(room)[done...])
        let count = try file.read(into: rest, at: start + Int64(done))
        if count == 0 { break }
        done += count
      }
      return done
    }
    bytes.removeLast(bytes.count - (read ?? 0))
    return ReportedOutput(bytes: bytes, totalBytes: size, path: shown(path))
  }
}
