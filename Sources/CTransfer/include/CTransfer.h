#pragma once
// libcurl, OpenSSL and zlib as the download worker uses them, with typed arguments in place of
// variadic ones.
#include "ctransfer_hash.h"
#include "ctransfer_http.h"
#include "ctransfer_inflate.h"
