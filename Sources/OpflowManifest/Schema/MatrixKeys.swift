// The keys of a matrix: their only definition.

enum MatrixKey: Int, SchemaKey {
  case rows, exclude, include

  var name: StaticString {
    switch self {
    case .rows: "rows"
    case .exclude: "exclude"
    case .include: "include"
    }
  }

  var row: KeyRow {
    switch self {
    case .rows:
      KeyRow(
        .either([
          .text, .map(.rows),
          .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        ]),
        "values that belong together: a list of maps, or a file with a line of names",
        example: "rows: [{ os: linux, cc: gcc }, { os: bsd, cc: clang }]")
    case .exclude:
      KeyRow(
        .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        "takes away the legs that have these values",
        example: "os: [linux, bsd]\ncc: [gcc, clang]\nexclude: [{ os: bsd, cc: gcc }]")
    case .include:
      KeyRow(
        .list(.entries(.identifier, .scalar, known: [], mayBeEmpty: false), mayBeEmpty: false),
        "adds legs, each with a value for every name",
        example: "os: [linux]\ncc: [gcc, clang]\ninclude: [{ os: bsd, cc: clang }]")
    }
  }
}

enum AxisKey: Int, SchemaKey {
  case range, glob, lines, file, after

  var name: StaticString {
    switch self {
    case .range: "range"
    case .glob: "glob"
    case .lines: "lines"
    case .file: "file"
    case .after: "after"
    }
  }

  static let ofAxes: [AxisKey] = [.range, .glob, .lines, .after]
  static let ofRows: [AxisKey] = [.file, .after]

  var row: KeyRow {
    switch self {
    case .range:
      KeyRow(
        .pair(.integer(KeyBounds.axis)),
        "whole numbers, from the first to the last",
        example: "range: [1, 4]")
    case .glob:
      KeyRow(.text, "the files that fit a pattern, sorted", example: "glob: \"data/*.csv\"")
    case .lines:
      KeyRow(.text, "the lines of a file, without the empty ones", example: "lines: hosts.txt")
    case .file:
      KeyRow(
        .text, standard: "required", "a file with a line of names, and a line for each row",
        example: "file: samples.tsv")
    case .after:
      KeyRow(
        .id,
        "the task that writes the file, or those that fit: they are read when it has succeeded",
        example: "after: build")
    }
  }
}
