import Foundation
import Testing

/// Whether a real sshd can be had here.
private enum SshDaemon {
  static let isPossible =
    ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: $0)
    } && getuid() == 0
}

/// Tasks on a machine that ssh leads to: this one, by a real sshd on the loopback address.
@Suite(.enabled(if: SshDaemon.isPossible, "it wants sshd, ssh and root"))
struct SshRunTests {
  @Test func `tasks run behind sshd, and nothing is left`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { matrix: { n: { range: [1, 6] } }, run: 'echo "${SSH_CONNECTION:+behind ssh}" >> trace' }
        b: { needs: [a], run: 'wc -l < trace > out', outputs: [out] }

      """)
    // The port is the first that is free there.
    try place.write(
      "begin.sh",
      """
      set -eu
      mkdir -p /run/sshd bin
      ssh-keygen -q -t ed25519 -N '' -f host
      ssh-keygen -q -t ed25519 -N '' -f key
      chmod 600 key.pub
      printf '%s\\n' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/key.pub" "PidFile $PWD/pid" \\
        'ListenAddress 127.0.0.1' 'PasswordAuthentication no' 'UsePAM no' 'StrictModes no' \\
        'PermitRootLogin yes' > sshd_config
      port=20022
      until /usr/sbin/sshd -f sshd_config -p $port; do port=$((port + 1)); test $port -lt 20100; done
      printf '%s\\n' 'Host near' 'HostName 127.0.0.1' "Port $port" "IdentityFile $PWD/key" \\
        'IdentitiesOnly yes' "UserKnownHostsFile $PWD/known" 'StrictHostKeyChecking accept-new' > config
      printf '#!/bin/sh\\nexec /usr/bin/ssh -F %s "$@"\\n' "$PWD/config" > bin/ssh
      chmod +x bin/ssh
      """)
    try place.shell("sh begin.sh")
    defer { _ = try? place.shell("test ! -e pid || kill $(cat pid)") }
    let run = try place.shell("PATH=$PWD/bin:$PATH exec $opflow run --on ssh:near -j 2 2>&1")
    #expect(place.lines() == Array(repeating: "behind ssh", count: 6), "\(run)")
    #expect(place.lines("out") == ["6"])
    try place.shell("kill $(cat pid); rm -f pid")
    place.expectNothingAlive()
  }
}
