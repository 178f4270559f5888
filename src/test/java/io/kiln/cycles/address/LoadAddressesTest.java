// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.cycles.address.LoadAddresses.ImageAddresses;
import io.kiln.cycles.address.LoadAddresses.Stack;
import io.kiln.cycles.decode.Instruction;
import io.kiln.cycles.decode.MachineCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses of loads in code that GNU as assembled, against those that a person reads off. */
final class LoadAddressesTest {
    private static final long START = 0x100;
    private static final int ARM = 40;
    private static final int RISCV = 243;
    private static final int SP = 13;

    /** Before: register n holds 0x1000 * (n + 1), the stack pointer 0x20001000. */
    private static int[] registers(int stackPointer) {
        int[] registers = new int[32];
        Arrays.setAll(registers, n -> n == stackPointer ? 0x20001000 : 0x1000 * (n + 1));
        return registers;
    }

    private static ElfFile image(int machine, String halfwords) {
        ByteBuffer code = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        for (String one : halfwords.split("[ /]+", -1)) {
            code.putShort((short) Integer.parseInt(one, 16));
        }
        ElfFile.Section text = new ElfFile.Section(".text", 1, 6, START, 0, code.capacity(), 0);
        return new ElfFile(code, machine, 0, List.of(text), List.of(), List.of(), List.of());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                // adds r0, #8; ldr r3, [r0, #4]
                "3008 6843 | - | 100c",
                // ldr r1, [r4], #4; ldr.w r2, [r4]
                "f854 1b04 f8d4 2000 | - | 5000 5004",
                // ldmia r5!, {r6, r7}; ldrd r0, r1, [r5, #-8]
                "cdc0 e955 0102 | - | 6000 6000",
                // ldmia r5, {r5, r6}; ldr r0, [r5]; movs r5, #0
                "cd60 6828 2500 | - | 6000 ?",
                // ldr r3, [r2]; ldr r1, [r3, #12]; adds r3, #4
                "6813 68d9 3304 | 3=9004 | 3000 900c",
                // lsls r1, r0, #2; ldr r2, [r3, r1]; ldrb.w r2, [r3, r0, lsl #1]
                "0081 585a f813 2010 | - | 8000 6000",
                // movs r1, #12; mla r2, r0, r1, r3; ldrh r2, [r2, #2]
                "210c fb00 3201 8852 | - | 10002",
                // str r0, [sp, #4]; ldr r1, [sp, #4]; ldr r2, [r1, #8]; movs r1, #0
                "9001 9901 688a 2100 | - | 1008",
                // strb r0, [sp, #4] in place of str
                "9001 f88d 0004 9901 688a 2100 | - | ?",
                // push {r4, r5}; add r4, sp, #4; ldr r6, [r4]; ldr r7, [r6]; movs r6, #0
                "b430 ac01 6826 6837 2600 | - | 6000",
                // vldr s0, [r1, #8]; vldmia r1!, {s0-s3}; ldr r3, [r1]
                "ed91 0a02 ecb1 0a04 680b | - | 2008 2000 2010",
                // movw r0, #0x1234; movt r0, #0x800; ldr r1, [r0]
                "f241 2034 f6c0 0000 6801 | - | 8001234",
                // cmp r0, #0; it eq; addeq r0, #4; ldr r1, [r0]; movs r0, #0
                "2800 bf08 3004 6801 2000 | - | ?",
                // subs r0, r1, r2; rsb r3, r0, #256; ldrsb r3, [r3]
                "1a88 f5c0 7380 f993 3000 | - | 1100",
                // tbh [pc, r0, lsl #1]
                "e8df f010 | - | 2104",
                // ldr r0, [r1]; ldr r2, [r0]; movs r0, #0
                "6808 6802 2000 | - | 2000 ?",
                // ldr r0, [pc, #4]; ldrb r1, [r0]; then data
                "4801 7801 / bf00 bf00 1000 0800 | - | 108 8001000",
            })
    void addressesAreSumsOfRegisters(String code, String behind, String expected) {
        assertThat(found(ARM, SP, code, behind)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // addi a0, a0, 8; lw a1, 4(a0)
                "0521 414c | b00c",
                // lui a2, 0x20010; lw a3, 16(a2)
                "0637 2001 4a14 | 20010010",
                // addi a1, a1, -4; lw s0, 4(s1); lw a1, 0(a1)
                "15f1 40c0 418c | a004 bffc",
                // mv a4, s1; add a4, a4, a5; lbu a2, 3(a4)
                "8726 973e 4603 0037 | 1a003",
                // sw a5, 12(sp); lw a4, 12(sp); lh a5, 2(a4); li a4, 0
                "c63e 4732 1783 0027 4701 | 10002",
                // slli a5, a5, 2; lw a5, 0(a5)
                "078a 439c | 40000",
                // addi s0, sp, 16; sw s1, 20(sp); lw s1, 4(s0); lw a0, 0(s1); li s1, 0
                "0800 ca26 4044 4088 4481 | a000",
                // addi sp, sp, -64; sub s0, s0, s1; lw s0, 0(s0); li a4, 12; mul a3, a5, a4; lw a2, 0(a3)
                "7139 8c05 4000 4731 86b3 02e7 4290 | fffff000 c0000",
            })
    void addressesOfRiscVAreToo(String code, String expected) {
        assertThat(found(RISCV, 2, code, null)).isEqualTo(expected);
    }

    private static String found(int machine, int stackPointer, String code, String behind) {
        ElfFile elf = image(machine, code);
        int halfwords = code.split("/", -1)[0].strip().split(" +", -1).length;
        List<Instruction> block = MachineCode.of(elf).between(START, START + 2L * halfwords);
        int[] after = new int[32];
        if (behind != null) {
            after[Integer.parseInt(behind.substring(0, 1))] = Integer.parseInt(behind.substring(2), 16);
        }
        LoadAddresses addresses = LoadAddresses.of(elf, block);
        long[] found = new long[addresses.loads().size()];
        addresses.find(registers(stackPointer), after, new Stack(), found);
        return Arrays.stream(found)
                .mapToObj(one -> one == LoadAddresses.UNKNOWN ? "?" : Long.toHexString(one))
                .collect(Collectors.joining(" "));
    }

    /** What one block stores on the stack, a later one knows. */
    @Test
    void pointersOnTheStackAreKnownInLaterBlocks() {
        ElfFile store = image(ARM, "9001");
        ElfFile load = image(ARM, "9901 688a 2100");
        Stack stack = new Stack();
        LoadAddresses.of(store, MachineCode.of(store).from(START, 1))
                .find(registers(SP), new int[32], stack, new long[0]);
        long[] found = new long[1];
        LoadAddresses.of(load, MachineCode.of(load).from(START, 3)).find(registers(SP), new int[32], stack, found);
        assertThat(found).containsExactly(0x1008);
    }

    @Test
    void anotherImagesAddressesKeepTheirDistanceFromTheirSymbol() {
        ImageAddresses addresses = ImageAddresses.of(
                symbols(new Symbol("run", 0x101, 0x40, 2, 1, 1), new Symbol("weights", 0x400, 64, 1, 1, 0)),
                symbols(
                        new Symbol("weights", 0x08002000, 64, 1, 1, 0),
                        new Symbol("run", 0x08000201, 0x40, 2, 1, 1),
                        new Symbol("other", 0x08001000, 8, 1, 1, 0)));
        assertThat(addresses.of(0x100)).isEqualTo(0x08000200);
        assertThat(addresses.of(0x13e)).isEqualTo(0x0800023e);
        assertThat(addresses.of(0x43f)).isEqualTo(0x0800203f);
        assertThat(addresses.of(0x20)).isEqualTo(0x20);
    }

    private static ElfFile symbols(Symbol... symbols) {
        return new ElfFile(ByteBuffer.allocate(0), 40, 0, List.of(), List.of(), List.of(symbols), List.of());
    }
}
