// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.function.UnaryOperator;

/** Damages what goes one way, from one byte of the stream on: cut, lost, repeated, reordered, flipped or inserted bytes. Seeded. */
final class Damage implements UnaryOperator<byte[]> {
    /** Bytes whose meaning frames and session give: starts, a termination, a start of a session, a log. */
    private static final byte[][] MEANINGFUL = {
        {-1},
        {-1, -3},
        {-1, -2},
        {-1, -3, 3, 0, 0, 0, 0, 0, 2, 0x66, 0x77},
        {-1, -3, -1, -1, -1, -1, -1, -1, 0x7F},
        {-1, -3, 7, 0, 0, 0, 0, 0, 3, 0x6C, 0x6F, 0x67, 0x31, (byte) 0xF0, (byte) 0xD4}
    };

    private static final int KINDS = 8;
    private static final int LONGEST = 40;

    private final Random random;
    private final int kind;
    private long untilDamage;
    private boolean isCut;
    private byte[] held = {};

    /**
     * @param range byte of the stream, below this, at which it happens
     */
    Damage(Random random, int range) {
        this.random = random;
        this.kind = random.nextInt(KINDS);
        this.untilDamage = random.nextInt(range);
    }

    @Override
    public byte[] apply(byte[] sent) {
        if (isCut) {
            return new byte[0];
        }
        byte[] bytes = joined(held, sent);
        held = new byte[0];
        boolean isHere = untilDamage >= 0 && untilDamage < bytes.length;
        int at = (int) untilDamage;
        untilDamage -= bytes.length;
        return isHere ? damaged(bytes, at) : bytes;
    }

    private byte[] damaged(byte[] bytes, int at) {
        int to = Math.min(bytes.length, at + 1 + random.nextInt(LONGEST));
        byte[] before = Arrays.copyOf(bytes, at);
        byte[] part = Arrays.copyOfRange(bytes, at, to);
        byte[] after = Arrays.copyOfRange(bytes, to, bytes.length);
        return switch (kind) {
            case 0 -> {
                isCut = true;
                yield before;
            }
            case 1 -> joined(before, after);
            case 2 -> joined(before, part, part, after);
            case 3 -> joined(before, after, part);
            case 4 -> {
                part[random.nextInt(part.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                yield joined(before, part, after);
            }
            case 5 -> {
                byte[] noise = new byte[1 + random.nextInt(LONGEST)];
                random.nextBytes(noise);
                yield joined(before, noise, part, after);
            }
            case 6 -> joined(before, MEANINGFUL[random.nextInt(MEANINGFUL.length)], part, after);
            default -> {
                held = joined(part, after);
                yield before;
            }
        };
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
