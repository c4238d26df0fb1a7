import OpflowSystem

ProcessID.exitNow(DownloadMain.run(arguments: Arguments.words))
