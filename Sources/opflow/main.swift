import Glibc

exit(Opflow.main(Array(CommandLine.arguments.dropFirst())))
