/// The flags of all commands. Which command takes which: `CommandName.flags`.
enum Flag: CaseIterable {
  case set, only, skip, resume, rerun
  case maxParallel, maxFailures, keepGoing, dryRun
  case output, quiet, verbose, json, color
  case durability, workers
  case follow, run
  case file, directory, stateDirectory
  case help

  /// What stands after `--`; nil for a flag that has a letter only.
  var long: String? {
    switch self {
    case .set: "set"
    case .only: "only"
    case .skip: "skip"
    case .resume: "resume"
    case .rerun: "rerun"
    case .maxParallel: "max-parallel"
    case .maxFailures: "max-failures"
    case .keepGoing: "keep-going"
    case .dryRun: "dry-run"
    case .output: "output"
    case .quiet: "quiet"
    case .verbose: "verbose"
    case .json: "json"
    case .color: "color"
    case .durability: "durability"
    case .workers: "on"
    case .follow: "follow"
    case .run: "run"
    case .file: "file"
    case .directory: nil
    case .stateDirectory: "state-dir"
    case .help: "help"
    }
  }

  var letter: Character? {
    switch self {
    case .maxParallel: "j"
    case .keepGoing: "k"
    case .dryRun: "n"
    case .quiet: "q"
    case .verbose: "v"
    case .follow: "f"
    case .file: "f"
    case .directory: "C"
    case .help: "h"
    case .set, .only, .skip, .resume, .rerun, .maxFailures, .output, .json, .color, .durability,
      .workers, .run, .stateDirectory:
      nil
    }
  }

  /// What the help calls its value; nil for a flag that takes none.
  var value: String? {
    switch self {
    case .set: "NAME=VALUE"
    case .only, .skip, .rerun: "SEL"
    case .maxParallel, .maxFailures: "N"
    case .output: "live|line|group|quiet"
    case .color: "auto|always|never"
    case .durability: "none|group|each"
    case .workers: "local"
    case .run: "RUN"
    case .file: "FILE"
    case .directory, .stateDirectory: "DIR"
    case .resume, .keepGoing, .dryRun, .quiet, .verbose, .json, .follow, .help: nil
    }
  }

  /// As a person writes it: `-j`, `--set`.
  var spelled: String {
    if let long { return "--\(long)" }
    return letter.map { "-\($0)" } ?? ""
  }
}
