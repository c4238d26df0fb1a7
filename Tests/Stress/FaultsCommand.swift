import Drill
import Glibc

/// `faults PROGRAM INJECTOR FOLDER PART PARTS [WORD]`: all faults of a small run, or those whose
/// description contains WORD; a process tests one part of them. `… SCENE FAULT`: a single fault.
struct FaultsCommand {
  private let program: String
  private let injector: String
  private let folder: String
  private var part = (number: 0, count: 1)
  private var word = ""
  private var single: (scene: FaultDrill.Scene, fault: Fault)?

  init?(_ arguments: [String]) {
    guard arguments.count >= 5 else { return nil }
    (program, injector, folder) = (arguments[0], arguments[1], arguments[2])
    if let scene = FaultDrill.Scene(rawValue: arguments[3]), let fault = Fault(arguments[4]) {
      single = (scene, fault)
    } else if let number = Int(arguments[3]), let count = Int(arguments[4]), count > 0 {
      part = (number, count)
      word = arguments.count > 5 ? arguments[5] : ""
    } else {
      return nil
    }
  }

  /// Continues after a finding, since faults are independent.
  func run() -> Int32 {
    var findings = 0
    do {
      var drill = try FaultDrill(program: program, injector: injector, parent: folder)
      var cases: [(scene: FaultDrill.Scene, fault: Fault)] = []
      if let single {
        cases = [single]
      } else {
        for scene in FaultDrill.Scene.allCases {
          cases += try drill.faults(of: scene).map { (scene, $0) }
        }
        cases = cases.enumerated().filter { $0.offset % part.count == part.number }.map(\.element)
          .filter { word.isEmpty || "\($0.scene.rawValue) \($0.fault)".contains(word) }
      }
      for (number, (scene, fault)) in cases.enumerated() {
        if number > 0, number % 200 == 0 {
          print("\(number) of \(cases.count), \(findings) findings")
          fflush(nil)
        }
        do {
          try drill.check(fault, in: scene)
        } catch {
          findings += 1
          print("\(error)\nreplay: scripts/stress faults \(scene.rawValue) '\(fault)'\n")
          fflush(nil)
        }
      }
      print("\(drill.faults) faults, \(findings) findings")
      try drill.cleanUp()
    } catch {
      print("\(error)")
      return 1
    }
    return findings == 0 ? 0 : 1
  }
}
