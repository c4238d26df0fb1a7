/// The certificates of the authorities that downloads trust.
package enum TrustedCertificates {
  /// Where distributions keep them in one file, in order of preference.
  package static let bundles = [
    // Debian, Ubuntu, Arch, Alpine, Gentoo, NixOS
    "/etc/ssl/certs/ca-certificates.crt",
    // Fedora, Red Hat
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    // SUSE
    "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
    // BusyBox systems, OpenSSL's own name
    "/etc/ssl/cert.pem",
  ]

  package static var missing: DownloadFailure {
    DownloadFailure(
      .certificate,
      "no trusted certificates: install the package ca-certificates or set SSL_CERT_FILE; "
        + "not found: " + bundles.joined(separator: ", "))
  }
}
