// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.util.Locale;

/** Whose source a file is, and so how strictly it is compiled. */
public enum SourceKind {
    /** Generated C, C runtime, default application: clean under every warning. */
    OWN,
    /** Start-up code, console and C library shims: as {@link #OWN}, and the compiler may not assume a C library. */
    FREESTANDING,
    /** C that came in an archive: it is what it is, and nobody here can act on a warning. */
    FOREIGN,
    /** The user's: the usual warnings, which do not fail the build. */
    USER;

    /** Key in a descriptor. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
