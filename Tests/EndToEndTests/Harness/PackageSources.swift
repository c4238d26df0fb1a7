import Foundation

/// The sources of this machine's packages. Machines without a way out have none.
enum PackageSources {
  static let areReachable: Bool = {
    let probe = Process()
    probe.executableURL = URL(fileURLWithPath: "/bin/sh")
    probe.arguments = [
      "-c",
      """
      command -v gcc clang make && place=$(mktemp -d) && cd "$place" || exit 1
      trap 'rm -rf "$place"' EXIT
      mkdir -p lists/partial parts
      list=/etc/apt/sources.list.d/debian.sources
      if [ -e "$list" ]; then sed 's/^Types:.*/Types: deb-src/' "$list" > parts/debian.sources
      else sed 's/^deb /deb-src /' /etc/apt/sources.list > parts/debian.list; fi
      apt-get -qq -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD" -o Acquire::Retries=0 \\
        -o Acquire::http::Timeout=10 -o Dir::Etc::sourcelist=/dev/null \\
        -o Dir::Etc::sourceparts="$PWD/parts" -o APT::Update::Error-Mode=any update
      """,
    ]
    probe.standardOutput = FileHandle.nullDevice
    probe.standardError = FileHandle.nullDevice
    do { try probe.run() } catch { return false }
    probe.waitUntilExit()
    return probe.terminationStatus == 0
  }()
}
