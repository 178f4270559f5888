// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Makes a C file use the C twins of its micro-kernels on every machine: a kernel tests macros of the compiler for its instructions, and the
 * file undefines these behind its system headers.
 */
final class PortableKernels {
    /** The macros that kernels test; a test holds the list against their files. */
    static final List<String> MACROS = List.of(
            "__ARM_ARCH_6M__",
            "__ARM_FEATURE_CLZ",
            "__ARM_FEATURE_DSP",
            "__ARM_FEATURE_FMA",
            "__ARM_FEATURE_MVE",
            "__ARM_FEATURE_SAT",
            "__riscv",
            "__riscv_mul",
            "__thumb__");

    private PortableKernels() {}

    /** The directives that undefine the macros, with a comment that gives the reason. */
    static String directives() {
        return "\n/* kiln.portable: kernels take their C twins in place of assembly and vendor intrinsics. */\n"
                + MACROS.stream().map(macro -> "#undef " + macro + "\n").collect(Collectors.joining());
    }
}
