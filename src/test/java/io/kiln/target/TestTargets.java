// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

/** Target strings of tests that run for several cores: one for each set of schedules. */
public final class TestTargets {
    /** This computer. */
    public static final String HOST = "c -keys=cpu -model=host";

    /** A processor of which nothing is known. */
    public static final String ANY = "c -keys=cpu";

    public static final String M0 = "c -keys=arm_cpu,cpu -mcpu=cortex-m0";
    public static final String M3 = "c -keys=arm_cpu,cpu -mcpu=cortex-m3";

    /** Has Arm's DSP instructions. */
    public static final String M4 = "c -keys=arm_cpu,cpu -mcpu=cortex-m4";

    /** The same behind a cache of instructions of 1 KB, as an STM32L4, G4 or F4. */
    public static final String M4_CACHED = M4 + " -i-cache-size=1024 -i-cache-line-size=32";

    public static final String M7 = "c -keys=arm_cpu,cpu -mcpu=cortex-m7";

    /** Has Arm's vector instructions, MVE. */
    public static final String M55 = "c -keys=arm_cpu,cpu -mcpu=cortex-m55";

    public static final String RV32 = "c -keys=cpu -march=rv32imac";

    private TestTargets() {}
}
