// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The core of a device as the compilers know it.
 *
 * @param mcpu value of {@code -mcpu}
 * @param standIn a built-in board with the same core, or one that runs its instructions, which QEMU emulates
 * @param isSame whether the stand-in has the same core
 */
record CoreTarget(String mcpu, String standIn, boolean isSame) {
    private static final Set<String> SINGLE = Set.of("FPU", "SP_FPU", "1");
    private static final Set<String> DOUBLE = Set.of("DP_FPU", "2");
    private static final String M3 = "mps2-an385";
    private static final String M4 = "mps2-an386";
    private static final String M7 = "mps2-an500";
    private static final String M33 = "mps2-an505";
    private static final String M55 = "mps3-an547";

    /**
     * Maps the attributes of a processor (Open-CMSIS-Pack, "processor element").
     *
     * @param device whose processor it is, for the message
     * @throws KilnException if Kiln compiles for no such core
     */
    static CoreTarget of(Map<String, String> processor, String device) {
        String core = processor.getOrDefault("Dcore", "");
        String fpu = processor.getOrDefault("Dfpu", "").toUpperCase(Locale.ROOT);
        String plain = SINGLE.contains(fpu) || DOUBLE.contains(fpu) ? "" : "+nofp";
        boolean hasDsp = processor.getOrDefault("Ddsp", "NO_DSP").equals("DSP")
                || processor.getOrDefault("Ddsp", "").equals("1");
        String dsp = hasDsp ? "" : "+nodsp";
        if (processor.getOrDefault("Dendian", "").startsWith("Big")) {
            throw refused("has a " + core + " with big-endian data", device);
        }
        return switch (core) {
            case "Cortex-M0", "SC000" -> new CoreTarget("cortex-m0", M3, false);
            // An FPGA's core, of the same instructions.
            case "Cortex-M1" -> new CoreTarget("cortex-m0", M3, false);
            case "Cortex-M0+" -> new CoreTarget("cortex-m0plus", M3, false);
            case "Cortex-M3", "SC300" -> new CoreTarget("cortex-m3", M3, true);
            case "Cortex-M4" -> new CoreTarget("cortex-m4" + plain, M4, true);
            case "Cortex-M7" -> new CoreTarget("cortex-m7" + (SINGLE.contains(fpu) ? "+nofp.dp" : plain), M7, true);
            case "Cortex-M23", "ARMV8MBL" -> new CoreTarget("cortex-m23", M33, false);
            case "Cortex-M33", "Cortex-M35P", "Star-MC1", "ARMV8MML" ->
                new CoreTarget("cortex-m33" + plain + dsp, M33, core.equals("Cortex-M33"));
            case "Cortex-M55" -> new CoreTarget("cortex-m55" + vector(processor, plain), M55, true);
            case "Cortex-M52", "ARMV81MML" -> new CoreTarget("cortex-m55" + vector(processor, plain), M55, false);
            case "Cortex-M85" -> new CoreTarget("cortex-m85" + vector(processor, plain), M55, false);
            default -> throw refused(core.isEmpty() ? "names no core" : "has a " + core, device);
        };
    }

    /** What an Armv8.1-M core lacks of the vector extension and of floating point. */
    private static String vector(Map<String, String> processor, String plain) {
        return switch (processor.getOrDefault("Dmve", "NO_MVE").toUpperCase(Locale.ROOT)) {
            case "FP_MVE" -> plain;
            case "MVE" -> plain.isEmpty() ? "+nomve.fp" : plain;
            default -> "+nomve" + plain;
        };
    }

    /** Whether it is of Armv6-M or Armv8-M Baseline, without a cycle counter. */
    boolean isSmall() {
        return mcpu.startsWith("cortex-m0") || mcpu.equals("cortex-m23");
    }

    /** Whether code in RAM from 0x20000000 on is fetched over the bus of loads and stores (technical reference manuals of these cores). */
    boolean fetchesOverSystemBus() {
        return mcpu.startsWith("cortex-m3") || mcpu.startsWith("cortex-m4");
    }

    /** Whether memories at these addresses are coupled tightly to the core (technical reference manuals of these cores). */
    boolean hasTightlyCoupled() {
        return mcpu.startsWith("cortex-m7") || mcpu.startsWith("cortex-m55") || mcpu.startsWith("cortex-m85");
    }

    private static KilnException refused(String what, String device) {
        return Failure.BOARD.exception(
                device + " " + what + ", for which Kiln does not compile",
                "kiln.device",
                "a Cortex-M core, or one of their instruction sets");
    }
}
