// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.decode;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.elf.ElfFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kinds against the mnemonics of GNU objdump, registers against instructions read by a person. */
final class MachineCodeTest {
    private static final int ARM = 40;
    private static final int RISCV = 243;
    private static final long S0 = 1L << 32;

    @ParameterizedTest
    @CsvSource({"thumb.txt, 40", "rv32.txt, 243"})
    void kindsAreThoseOfTheMnemonics(String listing, int machine) throws IOException {
        List<String> wrong = new ArrayList<>();
        List<String> lines = lines(listing);
        for (String line : lines) {
            String[] columns = line.split(" \\| ", -1);
            InstructionKind kind = decoded(machine, columns[0].split(" ", -1)).kind();
            if (!kind.text().equals(columns[1])) {
                wrong.add(line + ": " + kind.text());
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(lines).hasSizeGreaterThan(50);
    }

    private static List<String> lines(String listing) throws IOException {
        try (InputStream in = MachineCodeTest.class.getResourceAsStream(listing)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }

    /** One instruction, from its encoding as objdump shows it: halfwords of Thumb, a word of RISC-V. */
    private static Instruction decoded(int machine, String... digits) {
        ByteBuffer code = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        int bytes = 0;
        for (String part : digits) {
            int number = Integer.parseUnsignedInt(part, 16);
            if (part.length() == 8) {
                code.putInt(number);
            } else {
                code.putShort((short) number);
            }
            bytes += part.length() / 2;
        }
        ElfFile.Section text = new ElfFile.Section(".text", 1, 6, 0x1000, 0, code.capacity(), 0);
        ElfFile elf = new ElfFile(code, machine, 0, List.of(text), List.of(), List.of(), List.of());
        List<Instruction> found = MachineCode.of(elf).between(0x1000, 0x1000 + bytes);
        assertThat(found).hasSize(1);
        assertThat(found.get(0).bytes()).isEqualTo(bytes);
        return found.get(0);
    }

    @Test
    void registersOfThumb() {
        // ldr.w r3, [r0], #4
        Instruction load = decoded(ARM, "f850", "3b04");
        assertThat(load.writes()).isEqualTo(0b1001);
        assertThat(load.addresses()).isEqualTo(0b0001);
        assertThat(load.writesBack()).isTrue();
        // ldr.w r3, [r0, #4]
        assertThat(decoded(ARM, "f8d0", "3004").writesBack()).isFalse();
        // smlad r2, ip, r6, r3
        Instruction multiply = decoded(ARM, "fb2c", "3206");
        assertThat(multiply.writes()).isEqualTo(1 << 2);
        assertThat(multiply.reads()).isEqualTo(1 << 12 | 1 << 6 | 1 << 3);
        // ldmia.w lr!, {r4, r5, r6, r7}
        Instruction several = decoded(ARM, "e8be", "00f0");
        assertThat(several.words()).isEqualTo(4);
        assertThat(several.writes()).isEqualTo(1 << 14 | 0xf0);
        // pop {r4, pc}
        assertThat(decoded(ARM, "bd10").words()).isEqualTo(2);
        // vldmia r0!, {s0-s7}
        Instruction floats = decoded(ARM, "ecb0", "0a08");
        assertThat(floats.words()).isEqualTo(8);
        assertThat(floats.writes()).isEqualTo(255 * S0 | 1);
        // vmla.f32 s0, s1, s2
        assertThat(decoded(ARM, "ee00", "0a81").reads()).isEqualTo(7 * S0);
        // vldrw.u32 q3, [r0], #16
        Instruction vector = decoded(ARM, "ecb0", "7f04");
        assertThat(vector.writes()).isEqualTo(((15 * S0) << 12) | 1);
        assertThat(vector.writesBack()).isTrue();
    }

    @Test
    void registersOfRiscV() {
        // c.lw a0, 0(a1)
        Instruction load = decoded(RISCV, "4188");
        assertThat(load.writes()).isEqualTo(1 << 10);
        assertThat(load.addresses()).isEqualTo(1 << 11);
        // beq zero, a1, .+8: register 0 is never waited for
        assertThat(decoded(RISCV, "00b00463").reads()).isEqualTo(1 << 11);
    }

    @Test
    void whatIsNoInstructionIsUnknownAndWhatIsNoCodeIsNotThere() {
        assertThat(decoded(ARM, "ffff", "ffff").kind()).isEqualTo(InstructionKind.UNKNOWN);
        ElfFile empty = new ElfFile(ByteBuffer.allocate(0), ARM, 0, List.of(), List.of(), List.of(), List.of());
        assertThat(MachineCode.of(empty).from(0x1000, 4)).isEmpty();
    }
}
