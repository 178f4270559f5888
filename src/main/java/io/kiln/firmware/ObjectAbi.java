// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.BuildAttributes;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What an object file was compiled for: machine, byte order, and the attributes and flags of Arm and RISC-V that decide whether it computes what it
 * should beside other objects. (Addenda to, and Errata in, the ABI for the Arm Architecture, 3.3; RISC-V ELF psABI specification, File Header.)
 */
record ObjectAbi(ElfFile elf, int flags, Optional<BuildAttributes> attributes) {
    private static final int EM_ARM = 40;
    private static final int EM_RISCV = 243;
    private static final Map<Integer, String> MACHINES = Map.of(
            3, "x86", 8, "MIPS", 20, "PowerPC", EM_ARM, "Arm", 62, "x86-64", 94, "Xtensa", 183, "AArch64", EM_RISCV,
            "RISC-V");

    /** Tags of .ARM.attributes. */
    private static final int CPU_ARCH = 6;

    private static final int CPU_PROFILE = 7;
    private static final int ARM_ISA = 8;
    private static final int FP_ARCH = 10;
    private static final int FP_MODEL = 23;
    private static final int HARD_FP = 27;
    private static final int VFP_ARGS = 28;
    private static final int FP16_FORMAT = 38;
    private static final int DSP = 46;
    private static final int MVE = 48;

    private static final int FITS_BOTH = 3;
    private static final int ONLY_SINGLE = 1;

    /** Values of CPU_ARCH. */
    private static final int V6 = 6;

    private static final int V7 = 10;
    private static final int V6M = 11;
    private static final int V6SM = 12;
    private static final int V7EM = 13;
    private static final int V8M_BASE = 16;
    private static final int V8M_MAIN = 17;
    private static final int V81M_MAIN = 21;

    private static final List<String> ARCHITECTURES = List.of(
            "before Armv4",
            "Armv4",
            "Armv4T",
            "Armv5T",
            "Armv5TE",
            "Armv5TEJ",
            "Armv6",
            "Armv6KZ",
            "Armv6T2",
            "Armv6K",
            "Armv7",
            "Armv6-M",
            "Armv6S-M",
            "Armv7E-M",
            "Armv8-A",
            "Armv8-R",
            "Armv8-M baseline",
            "Armv8-M mainline",
            "Armv8.1-A",
            "Armv8.2-A",
            "Armv8.3-A",
            "Armv8.1-M mainline",
            "Armv9-A");
    private static final List<String> FPUS = List.of(
            "no FPU", "VFPv1", "VFPv2", "VFPv3", "VFPv3-D16", "VFPv4", "VFPv4-D16", "FPv5 with 32 registers", "FPv5");
    private static final List<String> ARGUMENTS = List.of(
            "floats in core registers (-mfloat-abi=soft or softfp)", "floats in FPU registers (-mfloat-abi=hard)",
            "floats as the toolchain likes", "no floats in calls");

    /** Tags of .riscv.attributes. */
    private static final int STACK_ALIGN = 4;

    private static final int ARCH = 5;

    private static final int RVC = 1;
    private static final int FLOAT_ABI = 6;
    private static final int RVE = 8;
    private static final List<String> RISCV_FLOATS = List.of(
            "floats in integer registers (ilp32)", "floats in FPU registers (ilp32f)",
            "doubles in FPU registers (ilp32d)", "quads in FPU registers");
    private static final Pattern VERSION = Pattern.compile("[0-9]+p[0-9]+");

    /** Extensions that are part of others: of what every core has, and of those of one letter. */
    private static final Map<String, String> PARTS = Map.of(
            "zicsr",
            "i",
            "zifencei",
            "i",
            "zicntr",
            "i",
            "zihpm",
            "i",
            "zmmul",
            "m",
            "zaamo",
            "a",
            "zalrsc",
            "a",
            "zca",
            "c");

    /**
     * Reads an object.
     *
     * @param name its name, for messages
     * @throws io.kiln.base.KilnException if its attributes are damaged
     */
    static ObjectAbi of(ElfFile elf, String name) {
        int flags = elf.content().getInt(isWide(elf) ? 48 : 36);
        return new ObjectAbi(elf, flags, BuildAttributes.of(elf, name));
    }

    /**
     * A difference that makes an object unfit.
     *
     * @param what the property
     * @param found of the object
     * @param expected of the image
     */
    record Difference(String what, String found, String expected) {
        /** The difference in words. */
        String text() {
            return what + ": it has " + found + ", the image " + expected;
        }
    }

    /**
     * Why an object cannot be linked with objects like this one; empty if it can.
     *
     * @param other the object
     */
    List<Difference> differences(ObjectAbi other) {
        List<Difference> all = new ArrayList<>();
        unlike("the machine", other.machine(), machine(), all);
        unlike("the byte order", other.byteOrder(), byteOrder(), all);
        if (!all.isEmpty()) {
            return all;
        }
        if (elf.machine() == EM_RISCV) {
            riscv(other, all);
        } else if (elf.machine() == EM_ARM && attributes.isPresent() && other.attributes.isPresent()) {
            arm(attributes.get(), other.attributes.get(), all);
        }
        return all;
    }

    private static boolean isWide(ElfFile elf) {
        return elf.content().get(4) == 2;
    }

    private String machine() {
        return MACHINES.getOrDefault(elf.machine(), "machine " + elf.machine()) + (isWide(elf) ? " with 64 bits" : "");
    }

    private String byteOrder() {
        return elf.content().order() == ByteOrder.BIG_ENDIAN ? "big endian" : "little endian";
    }

    private static void unlike(String what, String found, String expected, List<Difference> all) {
        if (!found.equals(expected)) {
            all.add(new Difference(what, found, expected));
        }
    }

    private static void arm(BuildAttributes image, BuildAttributes object, List<Difference> all) {
        String needed = architecture(object);
        if (!runs(image, object)) {
            all.add(new Difference("the architecture", needed, architecture(image)));
        }
        boolean hasFloats = object.number(FP_MODEL) != 0 || object.number(VFP_ARGS) != 0;
        int arguments = object.number(VFP_ARGS);
        int expected = image.number(VFP_ARGS);
        if (hasFloats && arguments != expected && arguments != FITS_BOTH && expected != FITS_BOTH) {
            all.add(new Difference("the calling convention", name(ARGUMENTS, arguments), name(ARGUMENTS, expected)));
        }
        if (needsMoreFpu(image, object)) {
            all.add(new Difference("the floating-point instructions", fpu(object), fpu(image)));
        }
        if (object.number(MVE) > image.number(MVE)) {
            all.add(new Difference("the vector instructions", mve(object), mve(image)));
        }
        int halves = object.number(FP16_FORMAT);
        int imageHalves = image.number(FP16_FORMAT);
        if (isOneOrTwo(halves) && isOneOrTwo(imageHalves) && halves != imageHalves) {
            all.add(new Difference("the format of 16-bit floats", half(halves), half(imageHalves)));
        }
    }

    private static boolean isOneOrTwo(int value) {
        return value == 1 || value == 2;
    }

    private static String half(int value) {
        return value == 1 ? "IEEE 754's" : "Arm's alternative";
    }

    /** Whether a core of the image's architecture has the instructions of the object's. */
    private static boolean runs(BuildAttributes image, BuildAttributes object) {
        int core = image.number(CPU_ARCH);
        int needed = object.number(CPU_ARCH);
        if (needed == 0 || core == 0) {
            return true;
        }
        int profile = object.number(CPU_PROFILE);
        if (profile == 'A' || profile == 'R' || (object.number(ARM_ISA) != 0 && image.number(ARM_ISA) == 0)) {
            return profile == image.number(CPU_PROFILE) && needed <= core;
        }
        boolean isMainline = core == V8M_MAIN || core == V81M_MAIN;
        boolean fits = switch (needed) {
            case V7 -> core == V7 || core == V7EM || isMainline;
            case V7EM -> core == V7EM || (isMainline && image.number(DSP) != 0) || core == V81M_MAIN;
            case V6M, V6SM -> true;
            case V8M_BASE -> core == V8M_BASE || isMainline;
            case V8M_MAIN -> isMainline;
            default -> needed <= V6 || needed == core;
        };
        return fits && (needed < V8M_BASE || object.number(DSP) <= image.number(DSP));
    }

    private static String architecture(BuildAttributes of) {
        int profile = of.number(CPU_PROFILE);
        String suffix = of.number(CPU_ARCH) == V7 && profile >= 'A' && profile <= 'Z' ? "-" + (char) profile : "";
        return name(ARCHITECTURES, of.number(CPU_ARCH))
                + suffix
                + (of.number(DSP) != 0 ? " with DSP instructions" : "")
                + (of.number(ARM_ISA) != 0 ? " with A32 instructions" : "");
    }

    private static boolean needsMoreFpu(BuildAttributes image, BuildAttributes object) {
        int needed = object.number(FP_ARCH);
        int has = image.number(FP_ARCH);
        if (needed == 0) {
            return false;
        }
        boolean needsDouble = object.number(HARD_FP) != ONLY_SINGLE;
        boolean hasDouble = image.number(HARD_FP) != ONLY_SINGLE;
        boolean has32 = needed == 3 || needed == 5 || needed == 7;
        return generation(needed) > generation(has) || (needsDouble && !hasDouble) || (has32 && needed != has);
    }

    private static int generation(int fpu) {
        return fpu <= 2 ? fpu : (fpu + 3) / 2;
    }

    private static String fpu(BuildAttributes of) {
        int fpu = of.number(FP_ARCH);
        String precision = of.number(HARD_FP) == ONLY_SINGLE ? ", single precision" : ", double precision";
        return name(FPUS, fpu) + (fpu == 0 ? "" : precision);
    }

    private static String mve(BuildAttributes of) {
        return switch (of.number(MVE)) {
            case 0 -> "none";
            case 1 -> "MVE of integers";
            default -> "MVE of integers and floats";
        };
    }

    private static String name(List<String> names, int value) {
        return value < names.size() ? names.get(value) : "number " + value;
    }

    private void riscv(ObjectAbi other, List<Difference> all) {
        unlike(
                "the calling convention",
                RISCV_FLOATS.get((other.flags & FLOAT_ABI) >> 1),
                RISCV_FLOATS.get((flags & FLOAT_ABI) >> 1),
                all);
        unlike("the registers", registers(other.flags), registers(flags), all);
        Optional<String> arch = attributes.flatMap(ObjectAbi::arch);
        Optional<String> otherArch = other.attributes.flatMap(ObjectAbi::arch);
        if (arch.isPresent() && otherArch.isPresent()) {
            Set<String> missing = new TreeSet<>(extensions(otherArch.get()));
            Set<String> has = extensions(arch.get());
            missing.removeIf(extension -> has.contains(extension) || has.contains(PARTS.getOrDefault(extension, "?")));
            if (!missing.isEmpty()) {
                all.add(new Difference(
                        "the extensions (" + String.join(", ", missing) + ")", otherArch.get(), arch.get()));
            }
        } else if ((other.flags & RVC) != 0 && (flags & RVC) == 0) {
            all.add(new Difference("the extensions", "compressed instructions", "none"));
        }
        int align = attributes.map(each -> each.number(STACK_ALIGN)).orElse(0);
        int otherAlign = other.attributes.map(each -> each.number(STACK_ALIGN)).orElse(0);
        if (align != 0 && otherAlign != 0 && align != otherAlign) {
            all.add(new Difference("the alignment of the stack", otherAlign + " bytes", align + " bytes"));
        }
    }

    private static Optional<String> arch(BuildAttributes of) {
        return Optional.ofNullable(of.texts().get(ARCH)).filter(text -> !text.isEmpty());
    }

    private static String registers(int flags) {
        return (flags & RVE) != 0 ? "16 (RV32E)" : "32";
    }

    /** The extensions in an arch string, such as {@code rv32i2p1_m2p0_zicsr2p0}. */
    private static Set<String> extensions(String arch) {
        Set<String> extensions = new TreeSet<>();
        String text = arch.toLowerCase(Locale.ROOT).replaceFirst("^rv(?:32|64)", "");
        for (String part : VERSION.matcher(text).replaceAll("").split("_", -1)) {
            if (part.length() > 1 && "zsx".indexOf(part.charAt(0)) >= 0) {
                extensions.add(part);
            } else {
                part.chars().forEach(letter -> extensions.add(Character.toString(letter)));
            }
        }
        if (extensions.remove("g")) {
            extensions.addAll(List.of("i", "m", "a", "f", "d"));
        }
        // The flags tell whether the base has fewer registers (E); its instructions are those of I.
        if (extensions.remove("e")) {
            extensions.add("i");
        }
        return extensions;
    }
}
