// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.toolchain.compiler.Libc;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How the user's own code is compiled.
 *
 * @param defines macros, each {@code NAME} or {@code NAME=value}
 * @param arguments further arguments of the compiler
 * @param libc the C library, which the toolchain has to link
 * @param forDebugger whether each line keeps its place and each variable its value, for a debugger
 */
public record CodeFlags(List<String> defines, List<String> arguments, Libc libc, boolean forDebugger) {
    /** No flags, and no C library. */
    public static final CodeFlags NONE = new CodeFlags(List.of(), List.of(), Libc.NONE, false);

    private static final List<String> FOR_DEBUGGER = List.of("-Og", "-g3");

    private static final Pattern STANDARD = Pattern.compile("-std=.*");
    private static final Pattern STANDARD_OF_CPLUSPLUS = Pattern.compile("-std=(?:c|gnu)\\+\\+.*");

    public CodeFlags {
        defines = List.copyOf(defines);
        arguments = List.copyOf(arguments);
    }

    /** The flags for sources in C and assembler, or for C++. A language standard applies to its language only. */
    List<String> of(boolean isCplusplus) {
        List<String> flags = new ArrayList<>(forDebugger ? FOR_DEBUGGER : List.of());
        defines.forEach(define -> flags.add("-D" + define));
        arguments.stream()
                .filter(argument -> !STANDARD.matcher(argument).matches()
                        || STANDARD_OF_CPLUSPLUS.matcher(argument).matches() == isCplusplus)
                .forEach(flags::add);
        return flags;
    }
}
