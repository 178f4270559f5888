// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.Optimize;
import io.kiln.target.CpuFeatures;
import io.kiln.target.CpuFeatures.Family;

/** The cores that have kernels for elements, and what the kernels depend on. */
enum ElementCore {
    /** Vector instructions (Cortex-M55 and later). */
    MVE("mve"),
    /** Armv7E-M. */
    DSP("dsp"),
    /** RV32IM. */
    RISCV("riscv"),
    /** Armv7-M and later. */
    THUMB2("thumb"),
    /** Armv6-M. */
    THUMB1("thumb");

    private static final int MOST = 8;
    private static final int MOST_FOR_SIZE = 2;

    private final String id;

    ElementCore(String id) {
        this.id = id;
    }

    /** Part of the names of kernels and schedules. */
    String id() {
        return id;
    }

    /** Whether it is a core of RV32IM. */
    static boolean isRv32(CpuFeatures features) {
        return features.family() == Family.RISCV && features.bits() == Integer.SIZE && features.hasLongMultiply();
    }

    /** Elements of an iteration: a power of two up to 8, or up to 2 for small code, that divides their number. */
    static int block(Optimize optimize, long elements) {
        int block = optimize == Optimize.SIZE ? MOST_FOR_SIZE : MOST;
        while (elements % block != 0) {
            block /= 2;
        }
        return block;
    }
}
