#pragma once
// The parts of libcurl, OpenSSL and zlib that the download worker uses, with typed arguments
// instead of variadic ones.
#include "ctransfer_hash.h"
#include "ctransfer_http.h"
#include "ctransfer_inflate.h"
