// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 16-bit instructions but for loads and stores. Encodings come from the GNU assembler. */
class NarrowInstructionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            lsls r0, r1, #4 | 0108 | r1=0x18000001 | r0=0x80000010 nzcv=1010
            lsls r0, r1, #0 | 0008 | r1=0 c=1 | r0=0 nzcv=0110
            lsrs r0, r1, #32 | 0808 | r1=0x80000000 | r0=0 nzcv=0110
            asrs r0, r1, #32 | 1008 | r1=0x80000000 | r0=0xffffffff nzcv=1010
            adds r0, r1, r2 | 1888 | r1=0x7fffffff r2=1 | r0=0x80000000 nzcv=1001
            adds r0, r1, #7 | 1dc8 | r1=0xfffffff9 | r0=0 nzcv=0110
            subs r0, r1, r2 | 1a88 | r1=1 r2=2 | r0=0xffffffff nzcv=1000
            subs r0, r1, #1 | 1e48 | r1=0x80000000 | r0=0x7fffffff nzcv=0011
            movs r3, #255 | 23ff | c=1 | r3=255 nzcv=0010
            cmp r3, #5 | 2b05 | r3=5 | r3=5 nzcv=0110
            adds r3, #200 | 33c8 | r3=100 | r3=300 nzcv=0000
            subs r3, #200 | 3bc8 | r3=100 | r3=0xffffff9c nzcv=1000
            ands r0, r1 | 4008 | r0=0xf0 r1=0x3c c=1 | r0=0x30 nzcv=0010
            eors r0, r1 | 4048 | r0=0xff r1=0xff | r0=0 nzcv=0100
            lsls r0, r1 | 4088 | r0=3 r1=31 | r0=0x80000000 nzcv=1010
            lsls r0, r1 | 4088 | r0=3 r1=32 | r0=0 nzcv=0110
            lsls r0, r1 | 4088 | r0=3 r1=33 c=1 | r0=0 nzcv=0100
            lsrs r0, r1 | 40c8 | r0=0x80000000 r1=256 c=1 | r0=0x80000000 nzcv=1010
            asrs r0, r1 | 4108 | r0=0x80000000 r1=200 | r0=0xffffffff nzcv=1010
            adcs r0, r1 | 4148 | r0=0xffffffff r1=0 c=1 | r0=0 nzcv=0110
            sbcs r0, r1 | 4188 | r0=5 r1=5 c=0 | r0=0xffffffff nzcv=1000
            rors r0, r1 | 41c8 | r0=1 r1=1 | r0=0x80000000 nzcv=1010
            rors r0, r1 | 41c8 | r0=0x80000001 r1=32 | r0=0x80000001 nzcv=1010
            tst r0, r1 | 4208 | r0=1 r1=2 c=1 | r0=1 nzcv=0110
            rsbs r0, r1, #0 | 4248 | r1=1 | r0=0xffffffff nzcv=1000
            cmp r0, r1 | 4288 | r0=0x80000000 r1=1 | r0=0x80000000 nzcv=0011
            cmn r0, r1 | 42c8 | r0=1 r1=0xffffffff | r0=1 nzcv=0110
            orrs r0, r1 | 4308 | r0=0x80000000 r1=1 | r0=0x80000001 nzcv=1000
            muls r0, r1, r0 | 4348 | r0=0x10000 r1=0x10001 | r0=0x10000 nzcv=0000
            bics r0, r1 | 4388 | r0=0xff r1=0x0f | r0=0xf0 nzcv=0000
            mvns r0, r1 | 43c8 | r1=0 | r0=0xffffffff nzcv=1000
            add r8, r1 | 4488 | r8=5 r1=6 | r8=11 nzcv=0000
            mov r8, r1 | 4688 | r1=9 | r8=9 nzcv=0000
            cmp r8, r1 | 4588 | r8=3 r1=3 | r8=3 nzcv=0110
            bx r1 | 4708 | r1=0x20000101 | pc=0x20000100
            blx r1 | 4788 | r1=0x20000101 | pc=0x20000100 lr=0x20000003
            adr r2, .+12 | a202 |  | r2=0x2000000c
            add r2, sp, #16 | aa04 | sp=0x20000800 | r2=0x20000810
            add sp, #8 | b002 | sp=0x20000800 | sp=0x20000808
            sub sp, #8 | b082 | sp=0x20000800 | sp=0x200007f8
            cbz r1, .+10 | b119 | r1=0 | pc=0x2000000a
            cbz r1, .+10 | b119 | r1=1 | pc=0x20000002
            cbnz r1, .+100 | bb81 | r1=1 | pc=0x20000064
            sxth r0, r1 | b208 | r1=0x18000 | r0=0xffff8000
            sxtb r0, r1 | b248 | r1=0x180 | r0=0xffffff80
            uxth r0, r1 | b288 | r1=0x18000 | r0=0x8000
            uxtb r0, r1 | b2c8 | r1=0x180 | r0=0x80
            rev r0, r1 | ba08 | r1=0x11223344 | r0=0x44332211
            rev16 r0, r1 | ba48 | r1=0x11223344 | r0=0x22114433
            revsh r0, r1 | bac8 | r1=0x000000ff | r0=0xffffff00
            nop | bf00 |  | pc=0x20000002
            cpsid i | b672 |  | pc=0x20000002
            b .+20 | e008 |  | pc=0x20000014
            b .-20 | e7f4 |  | pc=0x1fffffec
            beq .+8 | d002 | z=1 | pc=0x20000008
            beq .+8 | d002 | z=0 | pc=0x20000002
            bne .-8 | d1fa | z=0 | pc=0x1ffffff8
            bhi .+8 | d802 | c=1 z=1 | pc=0x20000002
            bge .+8 | da02 | n=1 v=1 | pc=0x20000008
            blt .+8 | db02 | n=1 v=0 | pc=0x20000008
            bgt .+8 | dc02 | z=1 | pc=0x20000002
            ble .+8 | dd02 | z=1 | pc=0x20000008
            """)
    void narrowInstructionsDoAsTheArchitectureSays(String assembly, String code, String before, String after) {
        TestCore core = new TestCore();
        core.load(code);
        core.set(before);
        core.check(assembly, core.step(), after);
    }
}
