// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** Arm's M-profile CPUs and their features, unless an extension is switched off. Source: Arm's technical reference manuals. */
enum CortexM {
    M0("cortex-m0", Architecture.V6M),
    M0PLUS("cortex-m0plus", Architecture.V6M),
    M1("cortex-m1", Architecture.V6M),
    M3("cortex-m3", Architecture.V7M),
    M4("cortex-m4", Architecture.V7EM),
    M7("cortex-m7", Architecture.V7EM),
    M23("cortex-m23", Architecture.V8M_BASE),
    M33("cortex-m33", Architecture.V8M_MAIN),
    M35P("cortex-m35p", Architecture.V8M_MAIN),
    M52("cortex-m52", Architecture.V81M_MAIN),
    M55("cortex-m55", Architecture.V81M_MAIN),
    M85("cortex-m85", Architecture.V81M_MAIN);

    /** Architecture versions, oldest first. */
    enum Architecture {
        V6M,
        V8M_BASE,
        V7M,
        V7EM,
        V8M_MAIN,
        V81M_MAIN
    }

    private final String text;
    private final Architecture architecture;

    CortexM(String text, Architecture architecture) {
        this.text = text;
        this.architecture = architecture;
    }

    /** The CPU of an {@code -mcpu} value; a suffix after {@code +} is ignored. */
    static Optional<CortexM> find(String mcpu) {
        String name = mcpu.contains("+") ? mcpu.substring(0, mcpu.indexOf('+')) : mcpu;
        return Arrays.stream(values()).filter(c -> c.text.equals(name)).findFirst();
    }

    static String all() {
        return Arrays.stream(values()).map(c -> c.text).collect(Collectors.joining(", "));
    }

    /** The SIMD and saturating instructions on general registers. */
    boolean hasDsp() {
        return architecture.compareTo(Architecture.V7EM) >= 0;
    }

    /** Helium, the vector extension. */
    boolean hasMve() {
        return architecture == Architecture.V81M_MAIN;
    }

    boolean hasFpu() {
        return hasDsp();
    }

    boolean hasDoubleFpu() {
        return this == M7 || hasMve();
    }

    /** Whether multiplying 32 by 32 bits to 64 takes one instruction. */
    boolean hasLongMultiply() {
        return architecture.compareTo(Architecture.V7M) >= 0;
    }

    boolean hasDivide() {
        return architecture != Architecture.V6M;
    }

    /** Whether words may be loaded from any address. */
    boolean hasUnalignedAccess() {
        return architecture.compareTo(Architecture.V7M) >= 0;
    }
}
