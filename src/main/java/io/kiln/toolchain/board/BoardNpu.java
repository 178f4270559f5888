// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The Ethos-U of a board.
 *
 * @param configuration its name, such as {@code ethos-u55-128}
 * @param base address of its registers
 * @param irq number of its interrupt; empty if the driver polls
 * @param isSecure whether it runs in the secure state
 * @param isModel whether it does not exist, so that a model in C takes the driver's place
 * @param vela what Vela is told of the memories around it; empty for Vela's defaults
 */
public record BoardNpu(
        String configuration,
        long base,
        OptionalInt irq,
        boolean isSecure,
        boolean isModel,
        Optional<VelaMemories> vela) {
    /** The code generator that takes what an NPU computes: its name in targets, and the key of memories that it reaches. */
    public static final String CODEGEN = "ethos-u";

    /**
     * What Vela is told of a board's memories: three of its options.
     *
     * @param config its configuration file: a file of the profile, or one that Vela brings, such as {@code Arm/vela.ini}
     * @param systemConfig name of a system configuration in the file
     * @param memoryMode name of a memory mode in the file
     */
    public record VelaMemories(String config, String systemConfig, String memoryMode) {}

    /** The code generator with the option that names the NPU, a part of the board's target. */
    public String target() {
        return CODEGEN + " -accelerator_config=" + configuration;
    }
}
