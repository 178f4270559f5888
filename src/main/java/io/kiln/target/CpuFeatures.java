// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The features of a CPU that schedules depend on.
 *
 * @param family instruction set
 * @param bits width of a general register
 * @param hasDsp Arm's SIMD and saturating instructions on general registers ({@code SMLAD}, {@code SSAT} on halves …)
 * @param hasMve Arm's M-profile vector extension (Helium), integer part
 * @param hasFpu single precision in hardware
 * @param hasDoubleFpu double precision in hardware
 * @param hasLongMultiply 32 by 32 bits to 64 in one or two instructions
 * @param hasDivide integer division in hardware
 * @param hasUnalignedAccess words may be loaded from any address
 */
public record CpuFeatures(
        Family family,
        int bits,
        boolean hasDsp,
        boolean hasMve,
        boolean hasFpu,
        boolean hasDoubleFpu,
        boolean hasLongMultiply,
        boolean hasDivide,
        boolean hasUnalignedAccess) {

    /** Instruction set families that schedules tell apart. */
    public enum Family {
        CORTEX_M,
        RISCV,
        /** The build machine, unless options say otherwise. */
        HOST,
        /** Another CPU: only features that every CPU has are assumed. */
        OTHER
    }

    /**
     * Reads {@code -mcpu}, {@code -march}, {@code -mattr} and {@code -mfloat-abi}. {@code +nodsp}, {@code +nomve} and
     * {@code +nofp}, in {@code -mcpu} or {@code -mattr}, switch features off. Without the DSP extension there is no
     * MVE, which builds on it.
     */
    public static CpuFeatures of(Target target) {
        Optional<CortexM> cortexM = CortexM.find(target.mcpu().orElse(""));
        if (cortexM.isPresent()) {
            return ofCortexM(cortexM.get(), extensions(target), softFloat(target));
        }
        Optional<RiscV> riscV =
                RiscV.parse(target.attribute("march").orElse("")).or(() -> riscVByName(target));
        if (riscV.isPresent()) {
            return ofRiscV(riscV.get(), softFloat(target));
        }
        boolean isHost = target.mcpu().isEmpty()
                && target.attribute("march").isEmpty()
                && target.attribute("mtriple").isEmpty();
        return isHost
                ? new CpuFeatures(Family.HOST, 64, false, false, true, true, true, true, true)
                : new CpuFeatures(Family.OTHER, 32, false, false, false, false, false, false, false);
    }

    private static CpuFeatures ofCortexM(CortexM cpu, List<String> extensions, boolean softFloat) {
        boolean hasDsp = cpu.hasDsp() && !extensions.contains("nodsp");
        boolean hasFpu = cpu.hasFpu() && !softFloat && !extensions.contains("nofp");
        return new CpuFeatures(
                Family.CORTEX_M,
                32,
                hasDsp,
                cpu.hasMve() && hasDsp && !extensions.contains("nomve"),
                hasFpu,
                hasFpu && cpu.hasDoubleFpu() && !extensions.contains("nofp.dp"),
                cpu.hasLongMultiply(),
                cpu.hasDivide(),
                cpu.hasUnalignedAccess());
    }

    private static CpuFeatures ofRiscV(RiscV isa, boolean softFloat) {
        return new CpuFeatures(
                Family.RISCV,
                isa.bits(),
                false,
                false,
                isa.has('f') && !softFloat,
                isa.has('d') && !softFloat,
                isa.has('m'),
                isa.has('m'),
                false);
    }

    /** LLVM's generic names and triples state the width only. */
    private static Optional<RiscV> riscVByName(Target target) {
        String name =
                target.mcpu().orElse("") + " " + target.attribute("mtriple").orElse("");
        if (name.contains("rv32") || name.contains("riscv32")) {
            return Optional.of(new RiscV(32, "i"));
        }
        return name.contains("rv64") || name.contains("riscv64") ? Optional.of(new RiscV(64, "i")) : Optional.empty();
    }

    private static boolean softFloat(Target target) {
        return target.attribute("mfloat-abi").filter("soft"::equals).isPresent();
    }

    /** Extensions after {@code +} signs; LLVM's {@code -dsp} is read as {@code nodsp}. */
    private static List<String> extensions(Target target) {
        List<String> extensions = new ArrayList<>();
        String[] mcpu = target.mcpu().orElse("").split("\\+", -1);
        extensions.addAll(Arrays.asList(mcpu).subList(1, mcpu.length));
        for (String item : target.attribute("mattr").orElse("").split(",", -1)) {
            String attribute = item.strip();
            if (attribute.startsWith("+")) {
                extensions.add(attribute.substring(1));
            } else if (attribute.startsWith("-")) {
                extensions.add("no" + attribute.substring(1));
            }
        }
        return extensions;
    }
}
