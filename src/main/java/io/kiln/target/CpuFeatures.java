// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The features of a CPU that schedules depend on.
 *
 * @param family instruction set
 * @param bits width of a general register
 * @param features what the CPU has
 * @param cache the cache of instructions, if loops must fit in it; empty where size costs no time, or nobody said
 */
public record CpuFeatures(Family family, int bits, Set<Feature> features, Optional<InstructionCache> cache) {
    public CpuFeatures {
        features = Set.copyOf(features);
    }

    /** The features of a CPU whose loops may have any size. */
    public CpuFeatures(Family family, int bits, Set<Feature> features) {
        this(family, bits, features, Optional.empty());
    }

    /** Abilities that a CPU has or lacks. */
    public enum Feature {
        /** Arm's SIMD and saturating instructions on general registers ({@code SMLAD}, {@code SSAT} on halves …). */
        DSP,
        /** Arm's M-profile vector extension (Helium), integer part. */
        MVE,
        /** Single precision in hardware. */
        FPU,
        /** Double precision in hardware. */
        DOUBLE_FPU,
        /** 32 by 32 bits to 64 in one or two instructions. */
        LONG_MULTIPLY,
        /** Integer division in hardware. */
        DIVIDE,
        /** Words may be loaded from any address. */
        UNALIGNED_ACCESS
    }

    /** Instruction set families that schedules tell apart. */
    public enum Family {
        CORTEX_M,
        RISCV,
        /** The build machine, unless options say otherwise. */
        HOST,
        /** Another CPU: only features that every CPU has are assumed. */
        OTHER
    }

    private static final Set<Feature> HOST = EnumSet.of(
            Feature.FPU, Feature.DOUBLE_FPU, Feature.LONG_MULTIPLY, Feature.DIVIDE, Feature.UNALIGNED_ACCESS);

    /**
     * Reads {@code -mcpu}, {@code -march}, {@code -mattr}, {@code -mfloat-abi} and the attributes of {@link InstructionCache}. {@code +nodsp}, {@code +nomve} and
     * {@code +nofp}, in {@code -mcpu} or {@code -mattr}, switch features off. Without the DSP extension there is no
     * MVE, which builds on it.
     */
    public static CpuFeatures of(Target target) {
        CpuFeatures core = ofCore(target);
        return new CpuFeatures(core.family, core.bits, core.features, InstructionCache.of(target));
    }

    private static CpuFeatures ofCore(Target target) {
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
        return isHost ? new CpuFeatures(Family.HOST, 64, HOST) : new CpuFeatures(Family.OTHER, 32, Set.of());
    }

    private static CpuFeatures ofCortexM(CortexM cpu, List<String> extensions, boolean softFloat) {
        boolean hasDsp = cpu.hasDsp() && !extensions.contains("nodsp");
        boolean hasFpu = cpu.hasFpu() && !softFloat && !extensions.contains("nofp");
        Set<Feature> features = EnumSet.noneOf(Feature.class);
        add(features, Feature.DSP, hasDsp);
        add(features, Feature.MVE, cpu.hasMve() && hasDsp && !extensions.contains("nomve"));
        add(features, Feature.FPU, hasFpu);
        add(features, Feature.DOUBLE_FPU, hasFpu && cpu.hasDoubleFpu() && !extensions.contains("nofp.dp"));
        add(features, Feature.LONG_MULTIPLY, cpu.hasLongMultiply());
        add(features, Feature.DIVIDE, cpu.hasDivide());
        add(features, Feature.UNALIGNED_ACCESS, cpu.hasUnalignedAccess());
        return new CpuFeatures(Family.CORTEX_M, 32, features);
    }

    private static CpuFeatures ofRiscV(RiscV isa, boolean softFloat) {
        Set<Feature> features = EnumSet.noneOf(Feature.class);
        add(features, Feature.FPU, isa.has('f') && !softFloat);
        add(features, Feature.DOUBLE_FPU, isa.has('d') && !softFloat);
        add(features, Feature.LONG_MULTIPLY, isa.has('m'));
        add(features, Feature.DIVIDE, isa.has('m'));
        return new CpuFeatures(Family.RISCV, isa.bits(), features);
    }

    private static void add(Set<Feature> features, Feature feature, boolean isThere) {
        if (isThere) {
            features.add(feature);
        }
    }

    /** The RISC-V base that LLVM's generic names and triples state: only a width, without extensions. */
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

    /** Whether it has Arm's SIMD and saturating instructions on general registers. */
    public boolean hasDsp() {
        return features.contains(Feature.DSP);
    }

    /** Whether it has the integer part of Arm's M-profile vector extension. */
    public boolean hasMve() {
        return features.contains(Feature.MVE);
    }

    /** Whether it has single precision in hardware. */
    public boolean hasFpu() {
        return features.contains(Feature.FPU);
    }

    /** Whether it multiplies 32 by 32 bits to 64 in one or two instructions. */
    public boolean hasLongMultiply() {
        return features.contains(Feature.LONG_MULTIPLY);
    }

    /**
     * A RISC-V architecture string (RISC-V ISA manual, naming conventions), such as {@code rv32imac_zba}.
     *
     * @param bits 32 or 64
     * @param letters single-letter extensions, {@code g} written out
     */
    record RiscV(int bits, String letters) {
        private static final Pattern MARCH =
                Pattern.compile("rv(32|64)([ieg][macfdqvbph]*)((_?[zsx][a-z0-9]+)(_[a-z0-9]+)*)?");

        static Optional<RiscV> parse(String march) {
            Matcher matcher = MARCH.matcher(march);
            if (!matcher.matches()) {
                return Optional.empty();
            }
            return Optional.of(new RiscV(
                    Integer.parseInt(matcher.group(1)), matcher.group(2).replace("g", "imafd")));
        }

        boolean has(char extension) {
            return letters.indexOf(extension) >= 0;
        }
    }

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
}
