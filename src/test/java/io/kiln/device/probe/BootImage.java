// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * A small hand-made image for an STM32F405. It adds up its own words, prints "O" on USART1 if the sum is 0 as it should be and "N" if
 * not, a line end, and leaves by semihosting. Behind the code come seeded random words, and at the end the one that makes the sum 0.
 */
final class BootImage {
    private static final int LENGTH_WORD = 2;
    private static final int[] CODE = {
        0x20020000, // initial stack pointer
        0x0800000d, // reset vector
        0, // bytes of the image
        0x6881480a, // ldr r0, base; ldr r1, [r0, #8]
        0xc8082200, // movs r2, #0; loop: ldmia r0!, {r3}
        0x390418d2, // adds r2, r2, r3; subs r1, #4
        0x244fd1fb, // bne loop; movs r4, #'O'
        0xd0002a00, // cmp r2, #0; beq good
        0x4d06244e, // movs r4, #'N'; good: ldr r5, uart
        0x60ee4e06, // ldr r6, cr1; str r6, [r5, #12]
        0x240a712c, // strb r4, [r5, #4]; movs r4, #10
        0x2018712c, // strb r4, [r5, #4]; movs r0, #0x18
        0xbeab4904, // ldr r1, exit; bkpt 0xab
        0xbf00e7fe, // b .
        0x08000000, // base
        0x40011000, // uart
        0x00002008, // cr1: on, transmit
        0x00020026, // exit: application exit
    };

    private BootImage() {}

    /** An image of so many bytes, a multiple of 4. */
    static Bytes of(int size, long seed) {
        Random random = new Random(seed);
        ByteBuffer image = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        int sum = 0;
        for (int i = 0; i < size / 4 - 1; i++) {
            int word = i == LENGTH_WORD ? size : i < CODE.length ? CODE[i] : random.nextInt();
            image.putInt(word);
            sum += word;
        }
        image.putInt(-sum);
        return Bytes.copyOf(image.array());
    }
}
