// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import java.util.EnumSet;
import java.util.Set;

/** The encodings of an architecture: instructions of one halfword, and of two. */
public final class InstructionSet {
    private static final int NARROW = 2;
    private static final int WIDE = 4;
    private static final int HALFWORD_BITS = 16;

    private final InstructionTable narrow;
    private final InstructionTable wide;
    private final boolean thumb;

    private InstructionSet(InstructionTable narrow, InstructionTable wide, boolean thumb) {
        this.narrow = narrow;
        this.wide = wide;
        this.thumb = thumb;
    }

    /** Thumb-2 with the DSP, floating-point and vector extensions. */
    public static InstructionSet thumb() {
        return Thumb.SET;
    }

    /** RV32IMAC. */
    public static InstructionSet rv32() {
        return Rv32.SET;
    }

    /** Loaded only if used. */
    private static final class Thumb {
        static final InstructionSet SET = new InstructionSet(
                InstructionTable.of(NARROW, "thumb16.txt"),
                InstructionTable.of(WIDE, "thumb32.txt", "thumbfloat.txt", "thumbvector.txt"),
                true);
    }

    /** Loaded only if used. */
    private static final class Rv32 {
        static final InstructionSet SET = new InstructionSet(
                InstructionTable.of(NARROW, "rv32c.txt"), InstructionTable.of(WIDE, "rv32.txt"), false);
    }

    /** Every kind that it can decode. */
    public Set<InstructionKind> kinds() {
        Set<InstructionKind> kinds = EnumSet.copyOf(narrow.kinds());
        kinds.addAll(wide.kinds());
        return kinds;
    }

    /** Whether a second halfword follows. */
    boolean isWide(int first) {
        return thumb ? first >>> 11 >= 0b11101 : (first & 0b11) == 0b11;
    }

    Instruction narrow(long address, int halfword) {
        return narrow.decode(address, halfword);
    }

    /** Decodes an instruction of two halfwords; Thumb's first halfword is the high one, RISC-V's the low one. */
    Instruction wide(long address, int first, int second) {
        return thumb
                ? wide.decode(address, first << HALFWORD_BITS | second)
                : withoutZero(wide.decode(address, second << HALFWORD_BITS | first));
    }

    private static Instruction withoutZero(Instruction i) {
        return new Instruction(
                i.address(), i.bytes(), i.kind(), i.words(), i.registers().without(1));
    }
}
