// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.util.Locale;

/** The origin of a source, which decides how strictly it is compiled. */
public enum SourceKind {
    /** Generated C, C runtime, default application: clean under every warning. */
    OWN,
    /** As {@link #OWN}, and optimized for size whatever the firmware is optimized for. */
    SMALL,
    /** Start-up code, console and C library shims: as {@link #OWN}, and the compiler may not assume a C library. */
    FREESTANDING,
    /** C from an archive: warnings are off, because the user cannot act on them. */
    FOREIGN,
    /** The user's: ordinary warnings, which do not fail the build. */
    USER,
    /** The user's in C++: as {@link #USER}, without exceptions, type information and locks around static variables. */
    CPLUSPLUS;

    /** Whether it is the user's own. */
    public boolean isUsers() {
        return this == USER || this == CPLUSPLUS;
    }

    /** Its key in a descriptor. */
    String text() {
        return (this == SMALL ? OWN : this).name().toLowerCase(Locale.ROOT);
    }
}
