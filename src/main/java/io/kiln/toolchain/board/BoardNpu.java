// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.OptionalInt;

/**
 * The Ethos-U of a board.
 *
 * @param configuration its name, such as {@code ethos-u55-128}
 * @param base address of its registers
 * @param irq number of its interrupt; empty if the driver polls
 * @param isSecure whether it runs in the secure state
 * @param isModel whether it does not exist, so that a model in C takes the driver's place
 */
public record BoardNpu(String configuration, long base, OptionalInt irq, boolean isSecure, boolean isModel) {
    /** The code generator that takes what an NPU computes: its name in targets, and the key of memories that it reaches. */
    public static final String CODEGEN = "ethos-u";

    /** The code generator with the option that names the NPU, a part of the board's target. */
    public String target() {
        return CODEGEN + " -accelerator_config=" + configuration;
    }
}
