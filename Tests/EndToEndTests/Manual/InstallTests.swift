import Foundation
import Testing

/// opflow in other places than a build's folder.
struct InstallTests {
  /// The folder of the programs under test.
  private static let built = URL(fileURLWithPath: Program.path).deletingLastPathComponent().path

  private static let project = """
    tasks:
      fetch: { download: { url: "file://PLACE/source", to: cache/copy } }
      use: { needs: [fetch], run: cat cache/copy }
    """

  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.write("source", "content\n")
    try place.write("opflow.yaml", Self.project.replacing("PLACE", with: place.path))
    return place
  }

  /// Puts a program there, as another name of it where the file system can.
  private func put(_ program: String, at path: String, in place: Workplace) throws {
    try place.shell(
      """
      mkdir -p "$(dirname '\(path)')"
      ln '\(Self.built)/\(program)' '\(path)' 2>/dev/null || cp '\(Self.built)/\(program)' '\(path)'
      """)
  }

  @Test(arguments: ["bin/opflow-download", "libexec/opflow/opflow-download"])
  func `the program for downloads can be beside opflow or in libexec`(_ path: String) throws {
    let place = try place()
    try put("opflow", at: "bin/opflow", in: place)
    try put("opflow-download", at: path, in: place)
    // Through a link and a path with dots: only the real folder of the program matters.
    try place.shell(
      "mkdir links && ln -s ../bin/opflow links/opflow && links/../links/opflow run -q")
    #expect(try place.shell("bin/opflow logs use").output.contains("content"))
  }

  @Test func `a missing program for downloads is an error that says where to install it`() throws {
    let place = try place()
    try put("opflow", at: "bin/opflow", in: place)
    let run = try place.shell("bin/opflow run -q", status: 1)
    #expect(
      run.errors.contains(
        "cannot execute \(place.path)/bin/opflow-download: No such file or directory"
          + "; install it beside opflow, or in ../libexec/opflow from there"), "\(run)")
  }

  @Test func `one beside opflow is used, even if it is broken`() throws {
    let place = try place()
    try put("opflow", at: "bin/opflow", in: place)
    try put("opflow-download", at: "libexec/opflow/opflow-download", in: place)
    try place.write("bin/opflow-download", "no program")
    let run = try place.shell("bin/opflow run -q", status: 1)
    #expect(
      run.errors.contains("cannot execute \(place.path)/bin/opflow-download: Permission denied"))
  }

  @Test func `an installation works, and its removal leaves no files`() throws {
    let place = try place()
    try place.write("prefix/share/man/man1/other.1", "another's\n")
    let install = "'\(Program.package)/scripts/install'"
    let put = try place.shell("\(install) --built '\(Self.built)' prefix")
    #expect(put.output.contains("\(place.path)/prefix/libexec/opflow/opflow-download\n"))
    #expect(put.errors.contains("export PATH="))
    for line in put.output.split(separator: "\n") {
      #expect(FileManager.default.fileExists(atPath: String(line)), "\(line)")
    }
    #expect(put.output.split(separator: "\n").count == 8)
    // A second time over the first, as an update does.
    try place.shell("\(install) --built '\(Self.built)' prefix")
    let used = try place.shell(
      """
      PATH=$PWD/prefix/bin:$PATH
      opflow run -q && opflow logs use
      . prefix/share/bash-completion/completions/opflow && complete -p opflow
      head -n 1 prefix/share/man/man1/opflow.1 prefix/share/man/man5/opflow.yaml.5
      cmp prefix/share/opflow/opflow.schema.json <(opflow schema)
      """)
    #expect(used.output.contains("content\n"))
    #expect(used.output.contains("complete -"))
    #expect(used.output.contains(".TH \"OPFLOW.YAML\" 5"))
    let removed = try place.shell("\(install) --uninstall prefix")
    #expect(removed.output.split(separator: "\n").count == 8)
    #expect(
      try place.shell("find prefix -type f -o -empty").output == "prefix/share/man/man1/other.1\n")
    let again = try place.shell("\(install) --uninstall prefix", status: 1)
    #expect(again.errors == "install: opflow is not installed in \(place.path)/prefix\n")
  }

  @Test func `packages are installed, used and removed`() throws {
    let place = try Workplace()
    let tried = try place.shell(
      "'\(Program.package)/scripts/smoke-package' --fast --own-root --built '\(Self.built)'")
    if tried.output.contains("smoke-package: skipped: ") { try Test.cancel("\(tried.output)") }
    for package in ["removed; no files are left\n", "the tarball ", "the wheel "] {
      #expect(tried.output.contains("smoke-package: \(package)"), "\(tried)")
    }
  }
}
