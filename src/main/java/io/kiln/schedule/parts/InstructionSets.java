// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

/** What the preprocessor is asked about the instruction sets for which kernels have assembly, and how far their loads reach. */
public final class InstructionSets {
    /** Preprocessor condition of Armv7-M and later. */
    public static final String THUMB_2 = "defined(__thumb__) && __ARM_ARCH_ISA_THUMB >= 2";

    /** Preprocessor condition of Armv6-M and Armv8-M Baseline. */
    public static final String THUMB_1 = "defined(__thumb__) && __ARM_ARCH_ISA_THUMB == 1";

    /** Preprocessor condition of RV32IM. */
    public static final String RV32_MUL =
            "defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && !defined(__riscv_e)";

    /** Largest immediate offset of a load or store of Thumb-2. */
    public static final int LOAD_REACH = 4095;

    private InstructionSets() {}
}
