// SPDX-License-Identifier: Apache-2.0
//
// The C library's header: libstdc++ has one of the same name before it, which would look for all of namespace std.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include_next <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
